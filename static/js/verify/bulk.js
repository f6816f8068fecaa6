// Accepting several at once: walking through the rows that are green, and ticking them.
import { bind } from "../shared/keys.js";
import { walkRows } from "../shared/rows.js";

const rows = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#green [data-row]")]);
const boxes = rows.map((row) => /** @type {HTMLInputElement} */ (row.querySelector("input[type=checkbox]")));
const accept = /** @type {HTMLButtonElement | null} */ (document.getElementById("accept"));
const FEWEST = 2; // one of them is held back

function tell() {
  const count = boxes.filter((box) => box.checked).length;
  const ticked = document.getElementById("ticked");
  if (ticked) ticked.textContent = String(count);
  if (accept) accept.disabled = count < FEWEST;
}

function toggle() {
  const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  if (at < 0) return;
  boxes[at].checked = !boxes[at].checked;
  tell();
}

function toggleAll() {
  const wanted = !boxes.every((box) => box.checked);
  for (const box of boxes) box.checked = wanted;
  tell();
}

for (const [index, box] of boxes.entries()) {
  box.addEventListener("click", () => rows[index].focus()); // keys go on from there
  box.addEventListener("change", tell);
}
walkRows(rows, "item");
bind("x", "Tick it or take it back", toggle);
bind("X", "Tick all or none", toggleAll);
tell();
