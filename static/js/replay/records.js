// How a record of a stage is written in the right pane: its facts as a list, long texts folded, what is missing as such.
import { make } from "../shared/elements.js";

/** @param {...string} words */
export function missing(...words) {
  return make("p.faint", {}, `no record of ${words.join(" or ")}`);
}

/** @param {string} title @param {unknown} text */
export function told(title, text) {
  return text ? [make("h3", {}, title), make("p", {}, asText(text))] : [];
}

/** @param {string} name @param {string} title @param {Node | string} content @param {Set<string>} open names of those that are open */
export function folded(name, title, content, open) {
  return make("details", { "data-remember": name, open: open.has(name) }, make("summary", {}, title), content);
}

/** @param {unknown} record */
export function facts(record) {
  if (typeof record !== "object" || record === null) return make("pre", {}, asText(record));
  return make(
    "dl.facts",
    {},
    ...Object.entries(record).flatMap(([key, value]) => [
      make("dt", {}, key.replaceAll("_", " ")),
      make("dd", {}, asText(value)),
    ]),
  );
}

/** @param {unknown} value @returns {string} */
export function asText(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
