// Accepting several at once: walking through the rows that are green, and ticking them.
import { bind } from "../shared/keys.js";

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

/** @param {number} by */
function move(by) {
  const next = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + by;
  rows[Math.max(0, Math.min(rows.length - 1, next))]?.focus();
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
  rows[index].tabIndex = -1;
  box.addEventListener("click", () => rows[index].focus()); // keys go on from there
  box.addEventListener("change", tell);
}
bind("j", "Next item", () => move(1));
bind("k", "Previous item", () => move(-1));
bind("x", "Tick it or take it back", toggle);
bind("X", "Tick all or none", toggleAll);
tell();
