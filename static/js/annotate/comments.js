// Comments beside the work: threads, answers, names after @, and jumping to what they are about.
//
// The page around says where it stands: document.dispatchEvent(new CustomEvent("annotate:place", {detail: {part: {step,
// name}, step: {step, name}, element: {step, node, name}}})), each left out where there is none. A click on a place
// asks it to go there by "annotate:goto" with {part, step, node}; a page that does calls preventDefault(). A page asks for
// the answer to a defect by "annotate:answer" with {defect, name}.
import { call } from "../shared/server.js";
import { bind } from "../shared/keys.js";
import { make, the } from "../shared/elements.js";

/**
 * A comment as the server tells it.
 * @typedef {{
 *   id: number,
 *   parent: number | null,
 *   author: string,
 *   text: string,
 *   at: string,
 *   place: string,
 *   url: string,
 *   step: number | null,
 *   node: string,
 *   turn: boolean,
 *   defect: number | null,
 *   change: string,
 *   resolved: any,
 *   deleted: boolean,
 *   may_change: boolean,
 *   may_delete: boolean,
 *   [name: string]: any,
 * }} Remark
 */

const section = the(document, "[data-comments]");
const form = the(section, "form");
const text = the(form, "textarea");
const about = the(form, "select");
const names = the(form, ".names");
const threadsUrl = section.dataset.comments ?? "";
const draftName = `webnav-comment-${threadsUrl}`;
const listUrl = section.dataset.assignment ? `${threadsUrl}?assignment=${section.dataset.assignment}` : threadsUrl;
const assignment = section.dataset.assignment ? Number(section.dataset.assignment) : null;
/** @type {string[]} */
let people = [];
/** @type {Remark[]} */
let comments = [];
/** What is answered, as the server is told: a comment or a defect. @type {{parent: number} | {defect: number, assignment: number | null} | null} */
let answered = null;
/** The comment that the address names. */
const wanted = new URLSearchParams(location.search).get("comment");
/** What can be commented on from here, in the order of the select. @type {{name: string, step?: number, turn?: boolean, node?: string}[]} */
let places = [{ name: "the session" }];

/** @param {Error | null} error */
function complain(error) {
  the(form, "[role=alert]").textContent = error
    ? error.message || "The server cannot be reached; what you wrote is kept."
    : "";
}

/** Ask the server and draw its answer; false when that failed. @param {string} url @param {object} [body] */
async function ask(url, body) {
  try {
    draw(await call(url, body));
    complain(null);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

/** @param {{comments: Remark[], people: string[], may_speak: boolean}} answer */
function draw({ comments: all, people: members, may_speak: maySpeak }) {
  comments = all;
  people = members;
  form.hidden = !maySpeak;
  const open = comments.filter((one) => !one.parent && !one.resolved && !one.deleted).length;
  the(section, "#comment-count").textContent = comments.length ? `${open} open` : "";
  const roots = comments.filter((one) => !one.parent || !comments.some(({ id }) => id === one.parent));
  const threads = roots.map((root) =>
    thread(
      root,
      comments.filter(({ parent }) => parent === root.id),
    ),
  );
  the(section, ".threads").replaceChildren(...threads);
  document.dispatchEvent(new CustomEvent("annotate:comments", { detail: comments }));
}

/** @param {Remark} root @param {Remark[]} answers */
function thread(root, answers) {
  const isOver = root.resolved !== false;
  const item = make("li.thread", { "data-comment": root.id });
  item.classList.toggle("over", isOver || root.deleted);
  item.append(remark(root), ...answers.map(remark));
  if (!root.may_change || root.deleted) return item;
  const answer = action("Answer", () => beginAnswer({ parent: root.id }, `Answer to ${root.author}`));
  const close = isOver
    ? action("Reopen", () => change(root, "reopen"))
    : action("Resolve", () => change(root, "resolve"));
  const by = typeof root.resolved === "string" ? make("span.faint", {}, `resolved by ${root.resolved}`) : null;
  item.append(make("div.thread-actions", {}, answer, close, by));
  return item;
}

/** @param {Remark} one */
function remark(one) {
  const when = make("time.faint", { datetime: one.at, title: new Date(one.at).toLocaleString() }, ago(one.at));
  const head = make("header", {}, make("b", {}, one.author), " ", when);
  if (one.place && !one.parent) head.append(" ", placeLink(one));
  if (one.defect) head.append(" ", make("span.tag", {}, `answers ${one.code}`));
  if (one.may_delete)
    head.append(
      " ",
      action(one.deleted ? "restore" : "delete", () => change(one, one.deleted ? "restore" : "delete")),
    );
  const body = one.deleted
    ? make("p.faint", {}, make("s", {}, one.text), " deleted")
    : make("p", {}, ...named(one.text));
  return make(
    String(one.id) === wanted ? "article.remark.wanted" : "article.remark",
    { "data-remark": one.id },
    head,
    body,
  );
}

/** The text with the names of members made visible. @param {string} said */
function named(said) {
  return said
    .split(/(@[\w@.+-]+)/)
    .map((piece) =>
      piece.startsWith("@") && people.includes(piece.slice(1).replace(/[.+-]+$/, ""))
        ? make("b.name", {}, piece)
        : piece,
    );
}

/** @param {Remark} one */
function placeLink(one) {
  const link = make("a.link", { href: one.url || "#" }, one.place);
  link.addEventListener("click", (event) => {
    const detail = { part: one.turn ? one.step : null, step: one.step, node: one.node || null };
    const isHere = !document.dispatchEvent(new CustomEvent("annotate:goto", { detail, cancelable: true }));
    if (isHere || !one.url) event.preventDefault();
  });
  return link;
}

/** @param {string} label @param {() => void} run */
function action(label, run) {
  const button = make("button.plain link", { type: "button" }, label);
  button.addEventListener("click", run);
  return button;
}

/** @param {Remark} one @param {string} what */
function change(one, what) {
  return ask(`${one.change}${what}/${listUrl.slice(threadsUrl.length)}`, {});
}

/** @param {NonNullable<typeof answered>} what @param {string} placeholder */
function beginAnswer(what, placeholder) {
  answered = what;
  the(form, ".say-place").hidden = true;
  the(form, "[data-cancel]").hidden = false;
  text.placeholder = placeholder;
  form.scrollIntoView({ block: "nearest" });
  text.focus();
}

function stopAnswering() {
  answered = null;
  the(form, ".say-place").hidden = false;
  the(form, "[data-cancel]").hidden = true;
  text.placeholder = "Comment; @name tells a member";
}

async function send() {
  const said = text.value.trim();
  if (!said) return;
  const { step = null, turn = false, node = "" } = places[about.selectedIndex] ?? {};
  const body = answered ? { text: said, ...answered } : { text: said, assignment, step, turn, node };
  if (!(await ask(listUrl, body))) return;
  text.value = "";
  localStorage.removeItem(draftName);
  stopAnswering();
}

/** @param {DocumentEventMap["annotate:place"]["detail"]} here */
function showPlaces({ part, step, element }) {
  const before = about.selectedIndex;
  places = [{ name: "the session" }];
  if (part) places.push({ name: part.name, step: part.step, turn: true });
  if (step) places.push({ name: step.name, step: step.step });
  if (element) places.push({ name: element.name, step: element.step, node: element.node });
  about.replaceChildren(...places.map(({ name }) => make("option", {}, `about ${name}`)));
  const isWriting = text.value.trim() !== "" && before >= 0;
  about.selectedIndex = Math.min(isWriting ? before : places.length > 1 ? 1 : 0, places.length - 1);
}

function begun() {
  return /(?:^|\s)@([\w.+-]*)$/.exec(text.value.slice(0, text.selectionStart));
}

function suggest() {
  const found = begun();
  const fitting = found
    ? people.filter((name) => name.toLowerCase().startsWith(found[1].toLowerCase())).slice(0, 6)
    : [];
  names.hidden = fitting.length === 0;
  names.replaceChildren(
    ...fitting.map((name) => {
      const option = make("li", { role: "option" }, `@${name}`);
      option.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        complete(name);
      });
      return option;
    }),
  );
}

/** @param {string} name */
function complete(name) {
  const found = begun();
  if (!found) return;
  const start = text.selectionStart - found[1].length;
  text.setRangeText(`${name} `, start, text.selectionStart, "end");
  names.hidden = true;
  localStorage.setItem(draftName, text.value);
}

/** @param {string} at */
function ago(at) {
  const minutes = Math.round((Date.now() - new Date(at).getTime()) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h ago` : new Date(at).toLocaleDateString();
}

text.addEventListener("input", () => {
  localStorage.setItem(draftName, text.value);
  suggest();
});
text.addEventListener("blur", () => (names.hidden = true));
text.addEventListener("keydown", (event) => {
  const first = form.querySelector(".names:not([hidden]) li");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    event.stopPropagation();
    send();
  } else if (first && (event.key === "Enter" || event.key === "Tab")) {
    event.preventDefault();
    complete(first.textContent.slice(1));
  }
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
the(form, "[data-cancel]").addEventListener("click", stopAnswering);
document.addEventListener("annotate:place", (event) => showPlaces(event.detail));
document.addEventListener("annotate:answer", ({ detail: { defect, name } }) =>
  beginAnswer({ defect, assignment }, `Why it is right as it is: ${name}`),
);
bind("c", "Comment", () => {
  text.scrollIntoView({ block: "nearest" });
  text.focus();
});

text.value = localStorage.getItem(draftName) ?? "";
showPlaces({});
document.dispatchEvent(new CustomEvent("annotate:where")); // a page that loaded first says again where it stands
if (await ask(listUrl)) {
  const shown = section.querySelector(".remark.wanted");
  if (shown) {
    shown.scrollIntoView({ block: "nearest" });
    const one = comments.find(({ id }) => String(id) === wanted);
    if (one) change(one, "seen");
  }
}
