// Making one of two versions: walking through what differs, and deciding each difference by a key.
import { bind } from "../shared/keys.js";

const rows = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-difference]")]);
let current = 0;

/** @param {number} index */
function mark(index) {
  current = index;
  for (const [number, row] of rows.entries()) row.toggleAttribute("data-current", number === current);
}

/** @param {number} index */
function select(index) {
  rows[Math.max(0, Math.min(rows.length - 1, index))]?.focus();
}

/** The place that the address names, else the first that is not decided. */
function firstPlace() {
  const named = rows.findIndex((row) => row.id === location.hash.slice(1));
  return named < 0 ? rows.findIndex((row) => !row.dataset.decided) : named;
}

/** @param {"a" | "b"} side */
function take(side) {
  /** @type {HTMLButtonElement | null | undefined} */ (rows[current]?.querySelector(`button[value=${side}]`))?.click();
}

function write() {
  const own = /** @type {HTMLDetailsElement | null | undefined} */ (rows[current]?.querySelector("details.own"));
  if (!own) return;
  own.open = true;
  /** @type {HTMLTextAreaElement | null} */ (own.querySelector("[data-first]"))?.focus();
}

for (const [index, row] of rows.entries()) row.addEventListener("focusin", () => mark(index));
for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("details.own form"))) {
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
}
const IDLE = 120_000; // nobody was there after so long without a sign
let worked = 0;
let last = performance.now();

/** Counts the time since the last sign of somebody at work. */
function work() {
  const since = performance.now() - last;
  last += since;
  if (since <= IDLE) worked += since;
}

for (const sign of ["keydown", "pointermove", "scroll"]) document.addEventListener(sign, work, { passive: true });
document.addEventListener("submit", work);
document.addEventListener("formdata", ({ formData }) => formData.set("seconds", String(Math.round(worked / 1000))));
bind("a", "Take version A", () => take("a"));
bind("b", "Take version B", () => take("b"));
bind("e", "Write other words", write);
bind("j", "To the next difference", () => select(current + 1));
bind("k", "To the difference before", () => select(current - 1));
select(firstPlace());
