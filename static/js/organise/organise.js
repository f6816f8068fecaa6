// The organise page: leftovers on the left, proposals and sessions on the right. Every change is one request that the
// server checks and answers with what is there now; nothing is moved before it agrees. Whatever a pointer can do, keys can.
import { around, the } from "../shared/elements.js";
import { bind } from "../shared/keys.js";
import { Refused, SignedOut, call } from "../shared/server.js";
import { drawLeft, drawRight } from "./rows.js";
import { bindDragging } from "./drag.js";
import { Peek } from "./peek.js";

/** @typedef {import("./rows.js").Task} Task */
/** @typedef {import("./rows.js").SessionRow} SessionRow */
/** @typedef {import("./rows.js").ProposalRow} ProposalRow */
/**
 * What the page starts from, with the addresses that it asks.
 * @typedef {{
 *   tasks: Task[],
 *   sessions: SessionRow[],
 *   proposals: ProposalRow[],
 *   change: string,
 *   propose: string,
 *   peek: string,
 * }} PageState
 */

const TOAST_MS = 12_000;
const POLL_MS = 2_000;
const FOLLOWED = 60; // polls, then the proposals by words stay
/** @param {string} id */
const element = (id) => the(document, `#${id}`);
/** @type {PageState} */
const state = JSON.parse(element("state").textContent);
const tasks = new Map(state.tasks.map((task) => [task.id, task]));
const sessions = new Map(state.sessions.map((session) => [session.id, session]));
const proposals = new Map(state.proposals.map((proposal) => [proposal.id, proposal]));
/** @type {Set<number>} */
const marked = new Set();
const left = element("left");
const right = element("right");
const site = /** @type {HTMLSelectElement} */ (document.getElementById("site"));
const find = /** @type {HTMLInputElement} */ (document.getElementById("find"));
const toast = element("toast");
const peek = new Peek(state.peek, tasks);
/** What takes the last change back. @type {object | null} */
let undo = null;
let toastTimer = 0;
let busy = false;

/** What the filters let through. */
function view() {
  const words = find.value.toLowerCase().trim();
  const fits = (/** @type {Task} */ task) =>
    (!site.value || task.site === site.value) && (!words || task.text.toLowerCase().includes(words));
  const ordered = [...sessions.values()].sort((a, b) => a.position - b.position || a.id - b.id);
  const placed = new Set(ordered.flatMap((session) => session.tasks));
  const leftovers = [...tasks.values()].filter((task) => !placed.has(task.id));
  const known = (/** @type {number[]} */ ids) => ids.flatMap((id) => tasks.get(id) ?? []);
  const anyFits = (/** @type {{tasks: number[]}} */ one) => known(one.tasks).some(fits);
  const isFree = (/** @type {ProposalRow} */ proposal) =>
    proposal.tasks.every((id) => tasks.has(id) && !placed.has(id));
  return {
    tasks,
    marked,
    leftovers: leftovers.filter(fits),
    allLeft: leftovers.length,
    sessions: ordered.filter(anyFits),
    allSessions: ordered.length,
    proposals: [...proposals.values()].filter((one) => isFree(one) && anyFits(one)),
  };
}

/**
 * Marks on what is not shown are forgotten: nothing is moved that nobody sees.
 * @param {{leftovers: Task[], sessions: SessionRow[]}} rows
 */
function forgetHiddenMarks({ leftovers, sessions: shown }) {
  const seen = new Set([...leftovers.map((task) => task.id), ...shown.flatMap((session) => session.tasks)]);
  for (const id of marked) if (!seen.has(id)) marked.delete(id);
}

function draw() {
  const shown = view();
  forgetHiddenMarks(shown);
  const at = cursorKey();
  const places = [left, right].map((list) => ({
    list,
    index: rowsOf(list).indexOf(/** @type {HTMLElement} */ (document.activeElement)),
    top: frame(list).scrollTop,
  }));
  drawLeft(left, shown);
  drawRight(right, shown);
  for (const { list, top } of places) frame(list).scrollTop = top;
  restoreCursor(at, places);
  element("left-count").textContent = counted(shown.leftovers.length, shown.allLeft);
  element("session-count").textContent = counted(shown.sessions.length, shown.allSessions);
  element("accept-all").hidden = shown.proposals.length === 0;
  element("each").hidden = !shown.leftovers.some((task) => task.turns > 1);
  element("marks").textContent = marked.size ? `${marked.size} marked` : "";
}

/** What scrolls a list. @param {HTMLElement} list */
function frame(list) {
  return /** @type {HTMLElement} */ (list.parentElement);
}

/** @param {number} shown @param {number} all */
function counted(shown, all) {
  return shown === all ? String(all) : `${shown} of ${all}`;
}

// The cursor is the focused row: a leftover, a proposal, a session or one of its tasks.

/** @param {HTMLElement} list @returns {HTMLElement[]} */
function rowsOf(list) {
  return [...list.querySelectorAll("[data-row]")];
}

function cursor() {
  return document.activeElement?.closest("[data-row]") ?? null;
}

function cursorKey() {
  return cursor()?.dataset.row ?? "";
}

/**
 * The same row, or what has come into its place.
 * @param {string | undefined} key
 * @param {{list: HTMLElement, index: number}[]} places
 */
function restoreCursor(key, places) {
  if (!key) return;
  const same = document.querySelector(`[data-row="${CSS.escape(key)}"]`);
  const { list, index } = places.find((place) => place.index >= 0) ?? { list: left, index: 0 };
  const rows = rowsOf(list);
  (same ?? rows[Math.min(index, rows.length - 1)] ?? rowsOf(left)[0] ?? rowsOf(right)[0])?.focus({
    preventScroll: Boolean(same),
  });
}

/** @param {number} by */
function step(by) {
  const at = cursor();
  const list = at && right.contains(at) ? right : left;
  const rows = rowsOf(list);
  const next = at ? rows.indexOf(at) + by : 0;
  rows[Math.max(0, Math.min(rows.length - 1, next))]?.focus();
}

/** @param {HTMLElement} list */
function side(list) {
  const at = cursor();
  if (at && list.contains(at)) return;
  const top = frame(list).getBoundingClientRect().top;
  const rows = rowsOf(list);
  (rows.find((row) => row.getBoundingClientRect().top >= top + 36) ?? rows[0])?.focus();
}

/** The marked tasks in the order of the page, or the task under the cursor. */
function chosen() {
  if (marked.size) {
    return [...document.querySelectorAll("[data-task]")]
      .map((row) => Number(row.dataset.task))
      .filter((id) => marked.has(id));
  }
  const task = cursor()?.dataset.task;
  return task ? [Number(task)] : [];
}

/** The tasks that a row stands for. @param {HTMLElement} row */
function tasksOf({ dataset: { task, proposal, session } }) {
  if (task) return [Number(task)];
  const of = proposal ? proposals.get(Number(proposal)) : sessions.get(Number(session));
  return of?.tasks ?? [];
}

/** The session of the cursor, and the place in it where something would be put. */
function place() {
  const at = cursor();
  if (!at?.dataset.session) return null;
  const session = sessions.get(Number(at.dataset.session));
  return session && { session, index: at.dataset.index === undefined ? null : Number(at.dataset.index) };
}

function mark() {
  const row = cursor();
  if (!row?.dataset.task) return;
  const id = Number(row.dataset.task);
  if (!marked.delete(id)) marked.add(id);
  draw();
  step(1);
}

/** @param {object} action @param {{isUndo?: boolean}} [how] */
async function act(action, { isUndo = false } = {}) {
  if (busy) return say("Wait: the change before is on its way.", undo);
  busy = true;
  try {
    take(await call(state.change, action), isUndo);
  } catch (error) {
    say(reason(error), null, true);
  } finally {
    busy = false;
  }
}

/** @param {Record<string, any>} answer @param {boolean} isUndo */
function take(answer, isUndo) {
  for (const session of answer.sessions) sessions.set(session.id, session);
  for (const id of answer.gone) sessions.delete(id);
  for (const id of answer.decided) proposals.delete(id);
  for (const proposal of answer.proposals) proposals.set(proposal.id, proposal);
  element("unopened").textContent = answer.unopened;
  marked.clear();
  draw();
  say(answer.said, isUndo ? null : answer.undo);
}

/** @param {Error} error */
function reason(error) {
  if (error instanceof SignedOut) return "You are signed out: sign in in another tab, then do it again.";
  return error instanceof Refused ? error.message : "The server cannot be reached; nothing was changed.";
}

/** @param {string} text @param {object | null} undoing @param {boolean} isBad */
function say(text, undoing, isBad = false) {
  undo = undoing;
  the(toast, "span").textContent = text;
  the(toast, "button").hidden = !undo;
  toast.classList.toggle("bad", isBad);
  toast.hidden = false;
  window.clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => (toast.hidden = true), TOAST_MS);
}

function makeSession() {
  const ids = chosen();
  if (ids.length) act({ do: "new", tasks: ids });
  else say("Mark tasks first, or go to one.", null, true);
}

function moveHere() {
  const to = place();
  if (!marked.size || !to) say("Mark tasks, then go to the session or the task before which they belong.", null, true);
  else act({ do: "move", tasks: chosen(), session: to.session.id, at: to.index });
}

/** @param {HTMLElement | null} row */
function split(row = cursor()) {
  if (row && Number(row.dataset.index) > 0)
    act({ do: "split", session: Number(row.dataset.session), at: Number(row.dataset.index) });
  else say("Go to the task of a session that begins the new one.", null, true);
}

function remove() {
  const row = cursor();
  if (row?.dataset.task && row.dataset.session) act({ do: "remove", tasks: chosen() });
  else if (row?.dataset.session) act({ do: "delete", session: Number(row.dataset.session) });
  else say("Go to a session or to a task in one.", null, true);
}

/** @param {number} by */
function reorder(by) {
  const at = place();
  if (!at || at.index === null) return;
  const to = at.index + by;
  if (to < 0 || to >= at.session.tasks.length) return;
  // The place is counted with the task still where it is.
  act({ do: "move", tasks: [at.session.tasks[at.index]], session: at.session.id, at: by > 0 ? to + 1 : to });
}

/** @param {string} what @param {HTMLElement | null} row */
function decide(what, row = cursor()) {
  const id = row?.dataset.proposal;
  if (id) act({ do: what, proposals: [Number(id)] });
  else say("Go to a proposal.", null, true);
}

/** New proposals in place of those shown. @param {{proposals: ProposalRow[]}} answer */
function renew(answer) {
  proposals.clear();
  for (const proposal of answer.proposals) proposals.set(proposal.id, proposal);
  draw();
}

/**
 * When the job of the embedding model has ended, its proposals take the place of those by words.
 * @param {string} job
 */
async function follow(job) {
  for (let tries = 0; tries < FOLLOWED; tries++) {
    await new Promise((resolve) => window.setTimeout(resolve, POLL_MS));
    const live = await call(job);
    if (live.running) continue;
    if (busy) return; // what is being decided stays where it is
    const answer = await call(state.propose);
    const models = new Set(answer.proposals.map((/** @type {ProposalRow} */ proposal) => proposal.model));
    renew(answer);
    say(models.size ? `${answer.said} By ${[...models].join(", ")}.` : answer.said, null);
    return;
  }
}

async function propose() {
  if (busy) return say("Wait: the change before is on its way.", undo);
  busy = true;
  say("Looking for tasks that go together …", null);
  try {
    const answer = await call(state.propose, {});
    renew(answer);
    say(answer.said, null);
    if (answer.job) follow(answer.job).catch(() => {}); // those by words stay
  } catch (error) {
    say(reason(error), null, true);
  } finally {
    busy = false;
  }
}

const group = "Organise";
bind("j", "Next row", () => step(1), { group });
bind("k", "Row before", () => step(-1), { group });
bind("ArrowDown", "Next row", () => step(1), { group, hidden: true });
bind("ArrowUp", "Row before", () => step(-1), { group, hidden: true });
bind("ArrowRight", "To the sessions", () => side(right), { group });
bind("ArrowLeft", "To the leftovers", () => side(left), { group });
bind("m", "Mark the task", mark, { group });
bind("n", "New session of the marked tasks", makeSession, { group });
bind("i", "Move the marked tasks here", moveHere, { group });
bind("s", "Split: this task begins a new session", () => split(), { group });
bind("Shift+ArrowDown", "Task down", () => reorder(1), { group });
bind("Shift+ArrowUp", "Task up", () => reorder(-1), { group });
bind("x", "Take the task out, or put the session into the bin", remove, { group });
bind("a", "Accept the proposal", () => decide("accept"), { group });
bind("r", "Reject the proposal", () => decide("reject"), { group });

element("organise").addEventListener("click", (event) => {
  const row = around(event, "[data-row]");
  const what = around(event, "button[data-do]")?.dataset.do;
  if (what === "split") split(row);
  else if (what === "remove") act({ do: "remove", tasks: [Number(row?.dataset.task)] });
  else if (what === "delete") act({ do: "delete", session: Number(row?.dataset.session) });
  else if (what) decide(what, row);
  else if (row && (event.ctrlKey || event.metaKey || around(event, ".mark"))) {
    row.focus();
    mark();
  } else (row ?? around(event, ".proposal")?.querySelector("[data-row]"))?.focus();
});
element("organise").addEventListener("focusin", () => {
  const row = cursor();
  if (!row) return;
  element("detail").textContent = the(row, ".said, .why").textContent;
  peek.look(tasksOf(row));
});
bindDragging({ marked, act, sessions });
element("propose").addEventListener("click", propose);
element("accept-all").addEventListener("click", () => {
  act({ do: "accept", proposals: view().proposals.map((proposal) => proposal.id) });
});
element("each").addEventListener("click", () => {
  act({
    do: "each",
    tasks: view()
      .leftovers.filter((task) => task.turns > 1)
      .map((task) => task.id),
  });
});
the(document, "#open-menu > summary").addEventListener("click", (event) => {
  event.preventDefault(); // opened here, so that what is typed next is the batch's name
  const summary = /** @type {HTMLElement} */ (event.currentTarget);
  const menu = /** @type {HTMLDetailsElement} */ (summary.parentElement);
  menu.open = !menu.open;
  if (menu.open) element("batch").focus();
});
the(toast, "button").addEventListener("click", () => {
  if (undo) act(undo, { isUndo: true });
});
for (const name of ["", ...new Set(state.tasks.map((task) => task.site).sort())]) {
  site.append(new Option(name || "all websites", name));
}
site.addEventListener("change", draw);
find.addEventListener("input", draw);
draw();
