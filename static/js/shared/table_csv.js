// Tables as CSV: a button with data-csv="name" saves the table of its section as name.csv, as it is shown. What is
// drawn in a cell is written as its label says it.

const FORMULA = /^[=+\-@\t]/; // what a spreadsheet would carry out

/** @param {HTMLTableCellElement} cell */
function text(cell) {
  const drawn = cell.querySelector("svg[aria-label]")?.getAttribute("aria-label");
  const said = (drawn ?? cell.textContent ?? "").replace(/\s+/g, " ").trim();
  const safe = FORMULA.test(said) && Number.isNaN(Number(said)) ? `'${said}` : said;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {HTMLTableElement} table */
function csv(table) {
  const rows = [...table.rows].filter((row) => !row.matches(".axis"));
  return rows.map((row) => `${[...row.cells].map(text).join(",")}\r\n`).join("");
}

/** @param {Event} event */
function save(event) {
  const button = /** @type {Element} */ (event.target).closest("[data-csv]");
  const table = button?.closest("details, section")?.querySelector("table");
  if (!button || !table) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
  link.download = `${button.dataset.csv}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

export function saveTables() {
  document.addEventListener("click", save);
}
