// Walking through the rows of a table by keys: the first link of a row gets the focus, so that Enter follows it.
import { bind } from "./keys.js";

/**
 * Bind j and k to the next and the previous of these rows.
 * @param {HTMLElement[]} rows
 * @param {string} noun what a row is
 */
export function walkRows(rows, noun) {
  for (const row of rows) row.tabIndex = -1;
  /** @param {number} by */
  const move = (by) => {
    const next = rows.findIndex((row) => row.contains(document.activeElement)) + by;
    const row = rows[Math.max(0, Math.min(rows.length - 1, next))];
    (row?.querySelector("a") ?? row)?.focus();
  };
  bind("j", `Next ${noun}`, () => move(1));
  bind("k", `Previous ${noun}`, () => move(-1));
}
