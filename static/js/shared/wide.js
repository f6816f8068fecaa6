// Tables that are wider than their window scroll in boxes of their own: each says so, and takes the keyboard.

const SAID = "Wider than this window: scroll it sideways, or press Tab until it is marked and then →.";

/** What a table is of: the heading of its section, without the commands in it. @param {HTMLTableElement} table */
function heading(table) {
  const titled = table.closest("section, figure, details, .page")?.querySelector("h1, h2, h3, figcaption, summary");
  const own = /** @type {HTMLElement | undefined} */ (titled?.cloneNode(true));
  for (const command of own?.querySelectorAll("a, button") ?? []) command.remove();
  return own?.textContent?.replace(/\s+/g, " ").trim() ?? "";
}

/** Tell of a table what of it holds at this width. @param {HTMLTableElement} table */
function tell(table) {
  const isCut = table.scrollWidth > table.clientWidth + 1 && getComputedStyle(table).overflowX !== "visible";
  if (isCut === table.classList.contains("cut")) return;
  table.classList.toggle("cut", isCut);
  if (!isCut) {
    table.removeAttribute("tabindex");
    table.previousElementSibling?.remove(); // the sentence
    return;
  }
  table.tabIndex = 0;
  if (!table.hasAttribute("aria-label")) table.setAttribute("aria-label", `${heading(table)} (scrolls sideways)`);
  const said = document.createElement("p");
  said.className = "faint cut-said";
  said.textContent = SAID;
  table.before(said);
}

function tellAll() {
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll(".page table"))) {
    tell(table);
  }
}

let isAsked = false;
function soon() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    tellAll();
  });
}

/** Follow the tables of the page: its width, and parts that are read again or opened. */
export function followTables() {
  const page = document.querySelector(".page");
  if (!page) return;
  tellAll();
  window.addEventListener("resize", soon);
  new MutationObserver(soon).observe(page, { childList: true, subtree: true });
  page.addEventListener("toggle", soon, { capture: true });
}
