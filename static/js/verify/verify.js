// The verify page: marking defects, giving a verdict, and walking through the conversation with its pages beside it.
import { call, Refused, SignedOut, Unreachable } from "../shared/server.js";
import { Evidence, TABS } from "../annotate/evidence.js";
import { bind, bindElements } from "../shared/keys.js";
import { around, button, dialog, make, the } from "../shared/elements.js";

const HEARTBEAT_MS = 20_000;
const WHOLE = null;
/** @param {string} id */
const byId = (id) => the(document, `#${id}`);
const data = JSON.parse(byId("verify-data").textContent);
const shown = JSON.parse(byId("document-data").textContent);
/** @type {import("../annotate/document.js").RecordedStep[]} */
const steps = shown.steps;
const parts = [...document.querySelectorAll(".part")];
const draftName = `webnav-verify-${data.user}-${data.id}-${data.round}`;
const reason = /** @type {HTMLTextAreaElement} */ (byId("reason"));

/** @typedef {{code: string, step: number | null, note: string}} Defect step: the first of its part, WHOLE for all */
/** Marked so far, in order. @type {Defect[]} */
let defects = [];
/** Index in `parts`; -1 is the whole conversation. */
let current = -1;
let place = 0;
/** The element of the step's page that was picked last. */
let node = "";
/** The lease under which verdicts are given. @type {string | null} */
let token = null;
let isBusy = false;

/** What was marked is kept in this browser until the verdict is given: a lost session or tab loses nothing. */
function keep() {
  localStorage.setItem(draftName, JSON.stringify({ defects, reason: reason.value }));
}

/** Each code of the checklist with its entry. @returns {[string, HTMLElement][]} */
function checklistEntries() {
  return [...document.querySelectorAll("#checklist [data-code]")].map((entry) => [entry.dataset.code ?? "", entry]);
}

function restore() {
  const kept = JSON.parse(localStorage.getItem(draftName) ?? "{}");
  const codes = new Set(checklistEntries().map(([code]) => code));
  const firsts = new Set([WHOLE, ...parts.map((part) => Number(part.dataset.step))]);
  defects = (kept.defects ?? []).filter((/** @type {Defect} */ { code, step }) => codes.has(code) && firsts.has(step));
  reason.value = kept.reason ?? "";
}

/** @param {string} code */
function toggle(code) {
  if (!data.writable) return;
  const step = current < 0 ? WHOLE : Number(parts[current].dataset.step);
  const known = defects.findIndex((defect) => defect.code === code && defect.step === step);
  if (known < 0) defects.push({ code, step, note: "" });
  else defects.splice(known, 1);
  keep();
  drawDefects();
}

/** @param {number | null} step */
function placeName(step) {
  const part = parts.find((row) => Number(row.dataset.step) === step);
  return part ? `part ${part.dataset.number}` : "whole conversation";
}

function drawDefects() {
  for (const [code, entry] of checklistEntries()) {
    const own = defects.filter((defect) => defect.code === code);
    entry.classList.toggle("wrong", own.length > 0);
    the(entry, ".check").setAttribute("aria-pressed", String(own.length > 0));
    the(entry, ".defects").replaceChildren(...own.map(defectRow));
  }
  for (const part of parts) {
    const count = defects.filter(({ step }) => step === Number(part.dataset.step)).length;
    part.classList.toggle("has-defects", count > 0);
  }
}

/** @param {Defect} defect */
function defectRow(defect) {
  const note = make("input", {
    type: "text",
    value: defect.note,
    placeholder: "note",
    "aria-label": `Note on ${defect.code}, ${placeName(defect.step)}`,
  });
  note.addEventListener("input", () => {
    defect.note = note.value;
    keep();
  });
  const remove = make("button.plain", { type: "button", "aria-label": "Take this defect back" }, "×");
  remove.addEventListener("click", () => {
    defects = defects.filter((other) => other !== defect);
    keep();
    drawDefects();
  });
  return make("li", {}, make("span.tag bad", {}, placeName(defect.step)), note, remove);
}

/** @param {string} text */
function say(text) {
  byId("status").textContent = text;
}

/** @param {string[]} problems */
function complain(problems) {
  byId("problems").textContent = problems.join(" ");
  byId("problems").hidden = problems.length === 0;
}

/** @param {boolean} writable */
function setWritable(writable) {
  for (const id of ["accept", "return", "give-back"]) button(id).disabled = !writable;
}

/**
 * Send a request of this verification; says what went wrong and gives null then.
 * @param {string} url
 * @param {object} body
 */
async function send(url, body) {
  if (isBusy || !token) return null;
  isBusy = true;
  setWritable(false);
  try {
    return await call(url, { token, ...body });
  } catch (error) {
    if (error instanceof SignedOut)
      say("You are signed out. Sign in in another tab, then press the key again: nothing is lost.");
    else if (error instanceof Unreachable)
      say("The server cannot be reached. What you have marked is kept: press the key again.");
    else if (error instanceof Refused) complain(error.body.problems ?? [error.message]);
    else throw error;
    setWritable(true);
    return null;
  } finally {
    isBusy = false;
  }
}

let isSure = false;

/** @param {"accept" | "return"} outcome */
async function judge(outcome) {
  complain([]);
  const wrong = new Set(defects.map(({ code }) => code));
  if (outcome === "accept" && wrong.size)
    return complain(["An annotation with defects is not accepted: take them back, or return it."]);
  const open = document.querySelectorAll(".part .warning, #clauses .faulty").length;
  if (outcome === "accept" && open && !isSure) {
    isSure = true; // asked once
    return complain([
      `${open} ${open === 1 ? "warning is" : "warnings are"} open: look at them, or accept once more to accept it so.`,
    ]);
  }
  const entries = checklistEntries().map(([code]) => code);
  const checklist = Object.fromEntries(entries.map((code) => [code, !wrong.has(code)]));
  const answer = await send(data.judge, {
    outcome,
    version: data.version,
    checklist,
    reason: reason.value,
    defects,
  });
  if (!answer) return undefined;
  localStorage.removeItem(draftName);
  return location.assign(answer.next ?? location.href);
}

async function giveBack() {
  const answer = await send(data.give_back, {});
  if (answer) location.assign(location.href);
}

function startReturn() {
  if (!data.writable) return;
  reason.focus();
}

async function takeLease() {
  if (!data.writable) return;
  setWritable(false); // no verdict without a lease
  try {
    const lease = await call(data.take, {});
    token = lease.token;
    setWritable(true);
    window.setInterval(beat, HEARTBEAT_MS);
  } catch (error) {
    say(error instanceof Refused ? error.message : "The server cannot be reached: reload to verify this.");
    setWritable(false);
  }
}

async function beat() {
  if (!token) return;
  try {
    const { held, holder } = await call(data.lease, { token });
    if (held) return;
    token = null;
    setWritable(false);
    say(holder ? `${holder} has taken this over.` : "This is no longer yours to verify.");
  } catch {
    // The next heartbeat tries again; the verdict itself says when something is wrong.
  }
}

/** @param {number} index */
function select(index) {
  current = Math.max(-1, Math.min(parts.length - 1, index));
  for (const [number, part] of parts.entries()) part.toggleAttribute("data-current", number === current);
  byId("scope-name").textContent = current < 0 ? "the whole conversation" : `part ${current + 1}`;
  if (current < 0) return byId("middle").scrollTo({ top: 0 });
  parts[current].scrollIntoView({ block: "nearest" });
  return showStep(Number(parts[current].dataset.place));
}

/** @param {number} by */
function move(by) {
  const next = Math.max(0, Math.min(steps.length - 1, place + by));
  if (next !== place) showStep(next);
}

const evidence = new Evidence(byId("evidence"), shown);

/** @param {number} index */
function showStep(index) {
  place = index;
  node = "";
  for (const row of document.querySelectorAll(".turn-step")) {
    if (Number(row.dataset.place) === place) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  }
  tellPlace();
  return evidence.show(place);
}

/** What comments can be about here. */
function tellPlace() {
  const step = { step: steps[place].id, name: `step ${place + 1}` };
  const part = current < 0 ? undefined : { step: Number(parts[current].dataset.step), name: `part ${current + 1}` };
  const element = node ? { ...step, node, name: `element ${node} of step ${place + 1}` } : undefined;
  document.dispatchEvent(new CustomEvent("annotate:place", { detail: { part, step, element } }));
}

/** Go to a part (by its first step), a step, or an element of it; to the first step where there is no such place. @param {Place} where */
async function goTo({ part: first, step: pk, node: wanted }) {
  const part = parts.findIndex((row) => row.dataset.step === String(first));
  const step = steps.findIndex(({ id }) => String(id) === String(pk));
  if (part >= 0) select(part);
  if (part >= 0 || step < 0) {
    if (part < 0) showStep(0);
    return;
  }
  const owner = parts.findLastIndex((row) => Number(row.dataset.place) <= step);
  select(owner);
  if (wanted) evidence.choose("tree");
  await showStep(step);
  if (wanted) evidence.tree.point(wanted);
}

for (const [index, [code, entry]] of checklistEntries().entries()) {
  the(entry, ".check").addEventListener("click", () => toggle(code));
  if (index < 9) bind(String(index + 1), `Defect: ${code}`, () => toggle(code), { group: "Checklist" });
}
for (const [index, part] of parts.entries()) {
  part.addEventListener("click", (event) => {
    if (around(event, "summary")) return;
    const step = around(event, ".turn-step");
    if (current !== index) select(index);
    if (step) showStep(Number(step.dataset.place));
  });
}
for (const link of document.querySelectorAll("[data-to-part]"))
  link.addEventListener("click", () => select(parts.findIndex((part) => part.dataset.step === link.dataset.toPart)));
for (const pointer of document.querySelectorAll("[data-mention]")) {
  const ends = () => document.querySelectorAll(`.from-${pointer.dataset.mention}, .to-${pointer.dataset.mention}`);
  pointer.addEventListener("pointerenter", () => ends().forEach((end) => end.classList.add("lit")));
  pointer.addEventListener("pointerleave", () => ends().forEach((end) => end.classList.remove("lit")));
}
reason.addEventListener("input", keep);
reason.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) judge("return");
});
byId("accept").addEventListener("click", () => judge("accept"));
byId("return").addEventListener("click", startReturn);
byId("give-back").addEventListener("click", giveBack);
button("show-guidelines")?.addEventListener("click", () => dialog("guidelines").showModal());

for (const name of /** @type {const} */ (["tree", "candidates"])) {
  byId(`panel-${name}`).addEventListener("click", (event) => {
    const row = around(event, "[data-row]");
    if (!row) return;
    node = evidence[name].nodes[Number(row.dataset.row)][1];
    tellPlace();
  });
}
document.addEventListener("annotate:where", tellPlace);
document.addEventListener("annotate:goto", (event) => {
  event.preventDefault();
  goTo(event.detail);
});

bind("j", "Next part", () => select(current + 1));
bind("k", "Previous part", () => select(current - 1));
bind("0", "The whole conversation", () => select(-1));
bind("ArrowLeft", "Previous step", () => move(-1));
bind("ArrowRight", "Next step", () => move(1));
bind("v", "Page, tree or candidates", () => evidence.choose(TABS[(TABS.indexOf(evidence.tab) + 1) % TABS.length]), {
  group: "Page",
});
bind("h", "Show or hide the marks", () => evidence.toggleMarks(), { group: "Page" });
bind("n", "Next place found", () => evidence.next(1), { group: "Page" });
bind("o", "Other annotators’ versions", () =>
  /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll(".other-version")).forEach(
    (version) => (version.open = !version.open),
  ),
);
bindElements(the(document, ".top"));
restore();
drawDefects();
goTo(Object.fromEntries(new URLSearchParams(location.search)));
takeLease();
