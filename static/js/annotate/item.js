// The item page: its panes, the keys, and how an annotation comes in and goes out.
import { amount, button, dialog, make, submitByKey, the } from "../shared/elements.js";
import { Actions } from "./actions.js";
import { call, Refused, SignedOut, Unreachable } from "../shared/server.js";
import { bindCommands } from "./commands.js";
import { CommentPlaces } from "./comment_places.js";
import { ConflictDialog } from "./conflict.js";
import { AnnotationDocument } from "./document.js";
import { Evidence, TABS } from "./evidence.js";
import { Film } from "./film.js";
import { Journal } from "./journal.js";
import { MentionDialog } from "./mentions.js";
import { Proposal } from "./proposal.js";
import { Returned } from "./returned.js";
import { Rows } from "./rows.js";
import { Saver } from "./saving.js";
import { Source } from "./source.js";
import { StatusLine } from "./status.js";
import { Submitting } from "./submitting.js";

const data = JSON.parse(the(document, "#item-data").textContent);
const element = (/** @type {string} */ id) => the(document, `#${id}`);
const journal = new Journal(`${data.user}/${data.id}`);
const doc = new AnnotationDocument(await read());
const kept = await journal.open();
for (const lines of document.querySelectorAll(".to-come")) lines.remove();
if (doc.about.writable && !doc.about.token)
  await call(`${data.url}take/`, {}).then(({ token }) => (doc.about.token = token), refuseToWrite);

let place = 0;
const saver = new Saver({ document: doc, journal, url: data.url, user: data.username });
const actions = new Actions(doc, saver);
const proposal = new Proposal({ document: doc, saver });
const film = new Film(element("film"), { document: doc, onStep: go, onCut: cut });
const rows = new Rows(element("rows"), doc, {
  onEdit: (...edit) => {
    actions.write(...edit);
    element("problems").hidden = true; // of what was there before
    render();
  },
  onFocus: focused,
  onStep: go,
  onMark: mark,
  onRemove: (step, mention) => (actions.unmark(step, mention), render()),
  onConflict: decideNext,
  onTooLong: say,
  whoChanged: (who) =>
    who === data.username ? "You changed this in another window too." : `${who || "Somebody else"} changed this too.`,
});
const source = new Source(element("source"), doc, go);
const evidence = new Evidence(element("evidence"), doc);
const commentPlaces = new CommentPlaces({
  document: doc,
  evidence,
  go,
  word: rows.field === "rewrite" ? "turn" : "part",
});
const conflicts = new ConflictDialog(dialog("conflict"), data.username, async (conflict, edits) => {
  await saver.decide(conflict, edits);
  render();
  decideNext();
});
const mentions = new MentionDialog(dialog("mention"), data.phenomena);
const submitting = new Submitting(
  { document: doc, saver, rows },
  { queue: data.queue, isWritable, render, say, decideNext, isLeftOut: (clause) => proposal.leftOut.has(clause) },
);
const returned = new Returned(element("middle"), (step) => {
  const at = doc.places.get(step);
  if (at !== undefined) go(at);
  rows.focus(doc.partAt(place));
});
const status = new StatusLine({
  saved: element("saved"),
  notice: element("notice"),
  document: doc,
  saver,
  journal,
  login: data.login,
  onTake: takeOver,
  onRetry: () => saver.now(),
});

/** The document; asked for again until the server answers. */
async function read() {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try {
      return await call(`${data.url}document/`);
    } catch (error) {
      if (error instanceof SignedOut || error instanceof Refused) location.reload();
      element("saved").textContent = "The server cannot be reached; trying again …";
      await new Promise((resolve) => window.setTimeout(resolve, wait));
    }
  }
}

/** @param {Error} error */
function refuseToWrite(error) {
  doc.about.writable = false;
  doc.about.why_not = error.message;
}

function isWritable() {
  return doc.about.writable && saver.status.kind !== "closed";
}

function render() {
  const writable = isWritable();
  const mayCut = writable && rows.field === "instruction";
  film.render({ mayCut, proposed: proposal.cuts });
  rows.render({ writable });
  rows.select(doc.partAt(place), place);
  showCounts();
  element("task-place").textContent = source.render(place);
  proposal.render(writable);
  button("undo").disabled = !writable || !(doc.canUndo || saver.unsent);
  button("redo").disabled = !writable || !doc.canRedo;
  for (const id of ["submit", "give-back", "send-back"]) if (button(id)) button(id).disabled = !writable;
  status.show(saver.status);
}

function showCounts() {
  const { parts, steps, about } = doc;
  const empty = parts.filter((part) => !part[rows.field].trim()).length;
  const word = rows.field === "rewrite" ? "turn" : "part";
  const count = amount(parts.length, word);
  const aim = rows.field === "rewrite" ? "" : ` (target ${about.target_parts})`;
  const said = source.faults;
  const texts = [amount(steps.length, "step"), `${count}${aim}`, ...(said.length ? said : ["all covered"])];
  element("counts").textContent = [...texts, ...(empty ? [`${empty} without text`] : [])].join(" · ");
  element("counts").classList.toggle("off-target", Boolean(aim) && parts.length !== about.target_parts);
}

/** Show a step: its card, its part's row, its page. @param {number} wanted */
function go(wanted) {
  if (wanted < 0 || wanted >= doc.steps.length) return Promise.resolve();
  const changes = doc.partAt(wanted) !== doc.partAt(place);
  place = wanted;
  film.select(place);
  rows.select(doc.partAt(place), place);
  if (changes && !rows.isTyping) rows.reveal(doc.partAt(place));
  element("task-place").textContent = source.render(place);
  commentPlaces.tell(place);
  return evidence.show(place);
}

/** @param {number} direction */
function goPart(direction) {
  const index = doc.partAt(place);
  const [first] = doc.range(index);
  if (direction < 0 && place > first) return go(first);
  return doc.parts[index + direction] && go(doc.range(index + direction)[0]);
}

/** Somebody writes in a row: its steps are shown. @param {number} step */
function focused(step) {
  const index = doc.parts.findIndex((part) => part.step === step);
  if (index < 0) return;
  const [first, last] = doc.range(index);
  if (place < first || place > last) go(first);
  else rows.select(index, place);
}

/** @param {number} direction */
function goRow(direction) {
  const onRow = rows.focused() !== null;
  const index = doc.partAt(place) + (onRow ? direction : 0);
  if (doc.parts[index]) rows.focus(index);
}

/** @param {number} at */
function cut(at) {
  if (!isWritable() || rows.field !== "instruction") return say("The cuts are made while decomposing");
  rows.flush();
  const done = actions.toggleCut(at);
  if (!done) return say("The first part begins here");
  go(at);
  return render();
}

/** @param {"anaphora" | "ellipsis"} sort */
async function mark(sort) {
  rows.flush();
  const { selected } = rows;
  if (!isWritable() || rows.field !== "rewrite") return;
  if (!selected || (sort === "anaphora" && !selected.text)) {
    say("Select words in a rewrite first: ⏎, then ⇧ and the arrow keys, then Esc");
    return;
  }
  const mention = await mentions.ask(doc, selected, sort);
  const index = doc.parts.findIndex((part) => part.step === selected.step);
  if (mention && index >= 0) {
    actions.mark(selected.step, mention);
    rows.unselect();
    render();
  }
  rows.focus(index);
}

function decideNext() {
  if (!doc.conflicts.length || document.querySelector("dialog[open]")) return;
  rows.flush(); // what was typed since the last edit is part of what "Mine" says
  const [conflict] = doc.conflicts;
  const index = doc.partAt(doc.placeOfStep(conflict.step));
  conflicts.show(
    conflict,
    `${rows.field === "rewrite" ? "Turn" : "Part"} ${index + 1}, ${conflict.field || conflict.kind}`,
    doc.conflicts.length - 1,
  );
}

/** What was put off is asked again by a key alone: whoever decides later is not interrupted at each save. @param {{conflicts: object[], others: {step: number, who: string}[]}} answer */
function answered({ conflicts: found, others }) {
  render();
  const last = others.at(-1);
  if (last) {
    const parts = [...new Set(others.map(({ step }) => doc.partAt(doc.placeOfStep(step)) + 1))];
    const who = last.who === data.username ? "Changed in another window" : `Changed by ${last.who}`;
    const word = rows.field === "rewrite" ? "turn" : "part";
    say(`${who}: ${parts.length > 1 ? `${word}s` : word} ${parts.join(", ")}`);
  }
  if (found.length) decideNext();
}

/** @param {"undo" | "redo"} which */
async function takeBack(which) {
  rows.flush();
  if (!isWritable()) return;
  const done = await saver.undo(which);
  render();
  if (!done) say(which === "undo" ? "Nothing here can be taken back without the server" : "Redoing needs the server");
}

async function takeOver() {
  if (await saver.takeOver()) say("It is yours again");
  render();
}

/** @param {{by?: "rules", job?: number}} [how] */
async function propose(how = {}) {
  rows.flush();
  if (!isWritable() || proposal.isAsking || !(await saver.now())) return;
  say("Proposing …");
  const failed = element("no-proposal");
  failed.hidden = true;
  try {
    const asked = proposal.ask(rows.field === "rewrite" ? "rewrite" : "cuts", how);
    render(); // an earlier one cannot be accepted meanwhile
    say((await asked) ? "" : "Stopped: nothing is proposed");
    render();
  } catch (error) {
    say("");
    render();
    failed.replaceChildren(error.message || "The server cannot be reached");
    if (data.asks_model && !how.by && !(error instanceof Unreachable)) {
      const instead = make("button.btn.small", { type: "button" }, "Propose by rules");
      instead.addEventListener("click", () => propose({ by: "rules" }));
      failed.append(" ", instead);
    }
    failed.hidden = false; // until the next try: there is something to do
  }
}

async function accept() {
  if (!proposal.shown || !isWritable()) return;
  rows.flush();
  if (!proposal.isAcceptable || !(await proposal.mayAccept())) return; // the key is pressed without the button, too
  actions.accept(proposal.shown);
  go(Math.min(place, doc.steps.length - 1));
  render();
}

let fading = 0;

/** What is still going on ("Proposing …") is said until something else is. @param {string} text */
function say(text) {
  element("said").textContent = text;
  window.clearTimeout(fading);
  if (!text.endsWith("…")) fading = window.setTimeout(() => element("said").replaceChildren(), 4000);
}

/** The row of the next part with a warning. */
function nextWarning() {
  const steps = new Set((doc.warnings ?? []).map((/** @type {{step: number}} */ { step }) => step));
  const here = doc.partAt(place);
  const order = [...doc.parts.keys()].map((offset) => (here + 1 + offset) % doc.parts.length);
  const index = order.find((part) => steps.has(doc.parts[part].step));
  if (index === undefined) return say("No warnings");
  go(doc.range(index)[0]);
  return rows.focus(index);
}

function listen() {
  const clicks = {
    undo: () => takeBack("undo"),
    redo: () => takeBack("redo"),
    submit: () => submitting.submit(),
    "give-back": () => submitting.giveBack(),
    propose: () => propose(),
    accept,
  };
  for (const [id, run] of Object.entries(clicks)) element(id).addEventListener("click", run);
  button("send-back")?.addEventListener("click", () => submitting.sendBack());
  element("sending").addEventListener("keydown", submitByKey);
  button("show-guidelines")?.addEventListener("click", () => dialog("guidelines").showModal());
  document.addEventListener("annotate:comments", () => (element("problems").hidden = true)); // one may have answered
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "hidden") return;
    rows.flush();
    saver.now();
  });
  window.addEventListener("pagehide", () => {
    rows.flush();
    saver.leave();
  });
  window.addEventListener("beforeunload", (event) => {
    rows.flush();
    if (saver.unsent) event.preventDefault();
  });
}

bindCommands(
  {
    step: (direction) => go(place + direction),
    part: goPart,
    row: goRow,
    cut: () => cut(place),
    mark,
    submit: () => submitting.submit(),
    takeOver,
    warning: nextWarning,
    decide: decideNext,
    answer: () => returned.answerNext(),
    write: () => rows.focus(doc.partAt(place), { editor: true }),
    undo: () => takeBack("undo"),
    redo: () => takeBack("redo"),
  },
  { rows, evidence, tabs: TABS },
  {
    isLost: () => saver.status.kind === "lost",
    isOpen: () => doc.conflicts.length > 0,
    canAnswer: () => returned.canAnswer,
  },
);
listen();
saver.onStatus = (now) => status.show(now);
saver.onAnswer = answered;
doc.conflicts = kept.conflicts;
if (doc.about.writable) {
  saver.start(kept.edits);
  if (kept.edits.length) say(`${amount(kept.edits.length, "change")} that this browser had kept`);
} else {
  saver.close(doc.about.why_not, doc.about.holder);
}
go(0);
render();
call(`${data.url}titles/`).then(
  ({ titles }) => {
    film.titles = titles;
    render();
  },
  () => {},
); // without the titles the strip is as it was
commentPlaces.goToAddress();
decideNext();
if (doc.about.asked) propose({ job: doc.about.asked }); // before this page was opened
