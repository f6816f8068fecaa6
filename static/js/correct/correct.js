// The page of a correction: the recorded page beside the form, and an element chosen on it or by its words.
import { amount, make, the } from "../shared/elements.js";
import { bind, press } from "../shared/keys.js";
import { readPage } from "../shared/server.js";
import { SnapshotFrame } from "../snapshot/frame.js";
import { Pointers } from "../snapshot/pointers.js";

/** @typedef {import("../snapshot/frame.js").Mark} Mark */
/** @typedef {[id: string, tag: string, name: string, isGold: boolean]} Choice */
/**
 * @typedef {{
 *   view: import("../snapshot/frame.js").View & {url: string, marks: Mark[]},
 *   elements: Choice[],
 *   meant: Record<string, string>,
 *   outer: Record<string, string>,
 * }} Beside
 */

const LISTED = 10; // rows of the list that are seen at once
const MOST_LISTED = 200; // of the elements that are found
/** What an element without a name is, by its tag. @type {Record<string, string>} */
const KINDS = { svg: "icon", path: "icon", use: "icon", i: "icon", img: "picture", input: "field", textarea: "field" };

/** @param {ParentNode} page @returns {Beside} */
function read(page) {
  return JSON.parse(the(page, "#correction-data").textContent ?? "");
}

let data = read(document);
const list = /** @type {HTMLSelectElement | null} */ (document.querySelector("[name=node_id]"));
const byId = new Map(data.elements.map((one) => [one[0], one]));
const holder = the(document, "#snapshot");
const frame = new SnapshotFrame(holder, { title: "The recorded page" });
new Pointers(holder, frame, marks);
let saying = 0;

/** Gold, and what is chosen or proposed. @returns {Mark[]} */
function marks() {
  if (!list?.value) return data.view.marks;
  const kept = data.view.marks.filter(({ kind }) => kind !== "predicted");
  return [...kept, { id: list.value, kind: "predicted", label: "chosen" }];
}

/** @param {string} text */
function say(text) {
  const said = the(document, "#said");
  said.textContent = text;
  window.clearTimeout(saying);
  saying = window.setTimeout(() => said.replaceChildren(), 4000);
}

/** @param {Choice} choice */
function described([id, tag, name, isGold]) {
  return `${name || `${KINDS[tag] ?? "element"} without a name`} [${tag}] ${id}${isGold ? ", gold now" : ""}`;
}

/** List what has all the words, the chosen element too. @param {HTMLSelectElement} select @param {string} text */
function find(select, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = select.value;
  const found = data.elements.filter((one) => {
    const said = described(one).toLowerCase();
    return words.every((word) => said.includes(word));
  });
  const shown = found.slice(0, MOST_LISTED);
  const own = byId.get(chosen);
  if (own && !shown.includes(own)) shown.unshift(own);
  select.replaceChildren(
    ...shown.map((one) => make("option", { value: one[0], selected: one[0] === chosen }, described(one))),
  );
  select.value = chosen;
  const listed = found.length > MOST_LISTED ? `, the first ${MOST_LISTED} listed` : "";
  the(document, "#found").textContent = words.length
    ? `${amount(found.length, "element")} of ${data.elements.length}${listed}`
    : `${amount(data.elements.length, "element")} of the page${listed}`;
  return found;
}

/** @param {HTMLSelectElement} select @param {string} id */
function choose(select, id) {
  const choice = byId.get(id);
  if (!choice) return;
  if (![...select.options].some(({ value }) => value === id))
    select.prepend(make("option", { value: id }, described(choice)));
  select.value = id;
  select.selectedOptions[0]?.scrollIntoView({ block: "nearest" });
  marked();
}

/** Mark what is chosen now, and bring it into view. */
function marked() {
  frame.setMarks(marks(), { scrollTo: list?.value ?? null });
}

/** The choice that a click means; the one around it when that is chosen already. @param {HTMLSelectElement} select @param {string} clicked */
function picked(select, clicked) {
  const meant = data.meant[clicked];
  if (!meant) return say("Nothing here can be gold: choose another element");
  for (let id = meant; id; id = data.outer[id]) if (id === select.value) return choose(select, data.outer[id] ?? meant);
  return choose(select, meant);
}

/** @param {HTMLSelectElement} select */
function letChoose(select) {
  const search = /** @type {HTMLInputElement} */ (the(document, "#find"));
  the(document, "#element .find").hidden = false;
  select.size = LISTED;
  find(select, "");
  search.addEventListener("input", () => find(select, search.value));
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault(); // Enter would send the form
    const found = find(select, search.value);
    if (!found.length) return say("No element has these words");
    if (!found.some(([id]) => id === select.value) || search.value.trim()) choose(select, found[0][0]);
    select.focus();
  });
  select.addEventListener("change", marked);
  frame.onPick = (id) => picked(select, id);
  frame.onHover = (id) => frame.hover(id === null ? null : (data.meant[id] ?? null));
  bind("/", "Find an element by its words", () => search.select());
  bind("e", "The list of elements", () => select.focus());
}

async function show() {
  await frame.show(data.view.url, { ...data.view, marks: marks(), scrollTo: list?.value || undefined });
}

frame.onKey = press;
frame.onMarked = ({ missing, hidden }) => {
  const named = (/** @type {string[]} */ ids) => marks().filter(({ id }) => ids.includes(id));
  the(document, "#unmarked").textContent = [
    ...named(missing).map(({ label }) => `${label}: not in this page`),
    ...named(hidden).map(({ label }) => `${label}: hidden, its surroundings are marked`),
  ].join(" · ");
};
frame.onExpired = async () => {
  data = read(await readPage(location.href));
  await show();
};
if (list) letChoose(list);
show();
