// How a record of a stage is written in the right pane: its facts as a list, long texts folded, what is missing as such.
import { make } from "../shared/elements.js";

export function missing(...words) {
  return make("p.faint", {}, `no record of ${words.join(" or ")}`);
}

export function told(title, text) {
  return text ? [make("h3", {}, title), make("p", {}, asText(text))] : [];
}

export function folded(name, title, content, open) {
  return make("details", { "data-remember": name, open: open.has(name) }, make("summary", {}, title), content);
}

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

export function asText(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
