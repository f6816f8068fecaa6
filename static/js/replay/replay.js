// The replay page: one step at a time, each under its own address, of a trajectory that may still be running.
import { around, button, the } from "../shared/elements.js";
import { bind, press } from "../shared/keys.js";
import { AskDialog } from "./ask.js";
import { DriveBar } from "./drive.js";
import { HeldBar } from "./held.js";
import { ConversationPane, FilmStrip } from "./conversation.js";
import { LiveFeed } from "./live.js";
import { SnapshotPane, TABS } from "./snapshot.js";
import { SidePane } from "./side.js";
import { ReplayStore, sentence } from "./store.js";
import { QuestionList } from "./questions.js";
import { ReviewBar } from "./review.js";
import { ConverseBox } from "./converse.js";

/** @param {string} id */
const element = (id) => the(document, `#${id}`);
const data = JSON.parse(element("replay-data").textContent);
const watched = new URLSearchParams(location.search).has("watch") && data.progress.run_state !== "failed";
if (watched) data.progress.steps = []; // they are shown one after the other, from the first on
const store = new ReplayStore(data);
const conversation = new ConversationPane(element("conversation"), store);
const film = new FilmStrip(element("film"), store, { screenshots: data.pictured ? data.screenshots_url : null });
const page = new SnapshotPane(element("page"), {
  url: data.url,
  onKey: press,
  onPick: (node) => (side.pick(node), held.pick(node)),
  onExpired: () => reload(),
  awaited,
});
const side = new SidePane(element("side"), store, {
  gold: data.gold,
  onHover: (node) => page.hover(node),
  onPick: (node) => page.scrollTo(node),
});
const reviews = new ReviewBar(element("review"), {
  url: data.reviews_url,
  isWhole: data.whole,
  onTurn: () => current >= 0 && window.history.replaceState(null, "", address(current)),
  say,
  onChange: onReviews,
  onGold: tellCorrections,
  regions: {
    edit: (region) => page.editRegion(region),
    show: (region, number, opens) => page.showRegion(region, number, opens),
    hide: () => page.editor === null && page.hideRegion(),
  },
});
const questions = new QuestionList(element("questions"), { say, onWithdrawn: () => reviews.load() });
const question = /** @type {HTMLDialogElement | null} */ (document.getElementById("ask-team"));
const ask = question && new AskDialog(question, { url: data.ask_url, say, onAsked: () => reviews.load() });
const held = new HeldBar(element("held"), {
  may: data.decides,
  url: data.held_url,
  say,
  onDecided: () => feed.ask(),
  onHeld: () => side.tellHeld(held.held),
});
const drive = new DriveBar(
  {
    bar: element("drive"),
    remote: element("remote"),
    work: /** @type {HTMLElement} */ (element("page").parentElement),
  },
  {
    may: data.decides && data.gold,
    me: data.me,
    url: data.drive_url,
    again: data.again_url,
    say,
    onChange: () => feed.ask(),
  },
);
const talk = data.typed && data.decides ? new ConverseBox(element("conversation"), drive, data) : null;
const titled = document.title;
let current = -1;
let running = -1;
let following = false;
let onlyFailures = false;
let laid = store.outline;
let told = store.awaits; // of what was awaited, when the page of the step was last shown

/**
 * Show a step; `history`: "push" a new address, "replace" the one we have, or leave it ("keep").
 * @param {number} seq
 * @param {"push" | "replace" | "keep"} history
 */
async function select(seq, history = "push") {
  if (seq < 0 || seq >= store.total) return;
  const previous = current;
  current = seq;
  if (history !== "keep") window.history[`${history}State`](null, "", address(seq));
  document.title = `step ${seq + 1} · ${titled}`;
  element("place").textContent = `step ${seq + 1} of ${store.total}`;
  conversation.select(seq, previous);
  film.select(seq, previous);
  reviews.show(seq);
  questions.show(seq);
  showDrive();
  showButtons();
  await showView(seq);
}

/** @param {number} seq */
async function showView(seq) {
  let view = store.view(seq)?.data;
  if (!view) {
    side.wait();
    page.wait();
    try {
      view = await store.load(seq);
    } catch (error) {
      if (seq === current)
        for (const pane of [side, page]) pane.showError(`${error.message}. Select the step again to retry.`);
      return;
    }
  }
  if (seq !== current) return; // another step was selected meanwhile
  side.show(view.detail, store.mark(seq));
  await page.show(seq, view);
  if (seq === current) prefetch(seq);
}

/** What the next key is likely to ask for: the neighbours' pages, records of the nearest failures. @param {number} seq */
async function prefetch(seq) {
  for (const near of [seq + 1, seq - 1]) {
    if (near < 0 || near >= store.total) continue;
    const view = await store.load(near)?.catch(() => null);
    if (seq !== current) return;
    if (view) page.prefetch(view);
  }
  for (const failure of [store.failure(seq, 1), store.failure(seq, -1)]) {
    if (failure !== null && seq === current) await store.load(failure)?.catch(() => null);
  }
}

function reload() {
  store.views.delete(current);
  showView(current);
}

/** A verdict on gold asks for a correction, or withdraws it: the decision's panel leads there. @param {number} seq */
async function tellCorrections(seq) {
  store.views.delete(seq);
  const view = await store.load(seq)?.catch(() => null);
  if (view && seq === current) side.show(view.detail, store.mark(seq));
}

function openCorrection() {
  const link = /** @type {HTMLAnchorElement | null} */ (document.querySelector("#side .correction a"));
  if (link) location.assign(link.href);
  else say("Nobody asks for a correction of this step");
}

/** Of a step; of a live episode that is followed its own, at which it is followed again. @param {number} seq @param {boolean} followed */
function address(seq, followed = following && data.live) {
  const query = new URLSearchParams();
  if (page.tab !== "page") query.set("tab", page.tab);
  if (data.queue) query.set("queue", data.queue);
  if (reviews.isWhole) query.set("whole", "1");
  if (onlyFailures) query.set("only", "failures");
  return `${data.url}${followed ? "" : `steps/${seq}/`}${query.size ? `?${query}` : ""}`;
}

function showButtons() {
  const failures = { "next-failure": store.failure(current, 1), "previous-failure": store.failure(current, -1) };
  for (const [id, seq] of Object.entries(failures)) button(id).disabled = seq === null;
  button("follow").disabled = store.isOver;
  element("follow").setAttribute("aria-pressed", String(following));
}

/** @param {number} seq */
function go(seq) {
  following = false; // without another address for where one comes from: Back leads to following again
  showButtons();
  return select(seq);
}

/** @param {number} direction */
function goTurn(direction) {
  const turn = store.turnOf(current);
  const place = store.turns.indexOf(turn);
  if (direction > 0) return store.turns[place + 1] && go(store.turns[place + 1].first);
  if (current > turn.first) return go(turn.first);
  return store.turns[place - 1] && go(store.turns[place - 1].first);
}

/** @param {-1 | 1} direction */
function goFailure(direction) {
  const seq = store.failure(current, direction);
  if (seq === null)
    say(data.gold ? `No ${direction > 0 ? "later" : "earlier"} failure` : "Right and wrong are hidden with the gold");
  else go(seq);
}

/** To the step beside this one, of those that are shown. @param {-1 | 1} direction */
function goStep(direction) {
  if (onlyFailures) goFailure(direction);
  else go(current + direction);
}

/** Right steps are left out of both lists, and the arrows pass them by. @param {boolean} on */
function showOnlyFailures(on) {
  onlyFailures = on && data.gold;
  document.body.classList.toggle("only-failures", onlyFailures);
  element("only-failures").setAttribute("aria-pressed", String(onlyFailures));
  if (current >= 0) window.history.replaceState(null, "", address(current));
}

/** @param {"next" | "previous"} name */
function goConversation(name) {
  if (data.neighbours[name]) location.assign(data.neighbours[name]);
  else say(`This is the ${name === "next" ? "last" : "first"} conversation of the run`);
}

/** What was said of this step is kept first: the queue gives what is not judged yet. @param {HTMLAnchorElement} link */
async function nextAsked(link) {
  await reviews.saving;
  location.assign(link.href);
}

/** @param {boolean} on */
function follow(on) {
  following = on && !store.isOver;
  showButtons();
  if (following && store.end >= 0 && store.end !== current) select(store.end, "replace");
  else if (current >= 0) window.history.replaceState(null, "", address(current));
  showDrive();
}

/** @param {string} tab */
function chooseTab(tab) {
  const why = page.choose(tab);
  if (why) say(why);
  else window.history.replaceState(null, "", address(current));
}

async function copyLink() {
  await navigator.clipboard.writeText(new URL(address(current, false), location.href).href);
  say("Link copied");
}

let fading = 0;

/** What went wrong stays until something else is said. @param {string} text @param {boolean} stays */
function say(text, stays = false) {
  element("said").textContent = text;
  window.clearTimeout(fading);
  if (!stays) fading = window.setTimeout(() => element("said").replaceChildren(), 2500);
}

/** An episode has more steps than it had, or fewer: it has ended, or begun anew. */
function relay() {
  laid = store.outline;
  conversation.build();
  film.build();
  if (data.gold) onReviews();
  if (current >= store.total) select(store.total - 1, "replace");
  else {
    conversation.select(current, -1);
    film.select(current, -1);
    element("place").textContent = `step ${current + 1} of ${store.total}`;
  }
}

/** @param {number[]} added */
function onSteps(added) {
  if (store.outline !== laid) relay();
  for (const seq of added) if (data.live) store.views.delete(seq - 1); // its page after is known now
  const changed = new Set([...added, running]);
  running = store.complete + 1;
  for (const seq of changed.add(running)) {
    conversation.update(seq);
    film.update(seq);
  }
  const isHeld = store.held && store.held.id !== held.held?.id;
  if (following && (added.length || isHeld)) select(store.end, "replace");
  else if (added.includes(current) || (data.live && page.tab === "change" && added.includes(current + 1)))
    showView(current);
  if (store.awaits !== told && !added.includes(current)) showView(current);
  told = store.awaits;
  if (following && (store.isOver || store.isStopped))
    follow(false); // from now on each step has its address
  else if (following) conversation.showEnd();
  if (store.held?.id !== held.held?.id && store.held?.seq === current) reload();
  showHeld();
  showDrive();
  showButtons();
}

/** Why a step of a live episode has no page yet; "" for one that is decided, or that nothing decides any more. @param {number} seq */
function awaited(seq) {
  if (!data.live || store.rows.has(seq) || store.isOver || store.isStopped) return "";
  return store.awaited;
}

/** Who drives an episode; the keys are there while it goes on, for those who may stop it. */
function showDrive() {
  if (!data.live) return;
  const grows = !store.isOver && !store.isStopped && store.state !== "done";
  drive.show(store.drive, store.told(grows, following || current > store.complete));
  const goesOn = grows && !store.ends && !store.lost;
  talk?.show(store.drive, goesOn, store.awaits ? store.awaited : sentence(store.waits));
  if (!goesOn || !data.decides || !data.gold) return;
  for (const [spec, label, run] of drive.commands) bind(spec, label, run, { group: "Who drives" });
}

/** The keys are there only while something is held. */
function showHeld() {
  held.show(store.held);
  if (!store.held) return;
  for (const [spec, label, run] of held.commands) bind(spec, label, run, { group: "Held action" });
}

/** @param {string} text @param {string} kind */
function onStatus(text, kind) {
  const badge = element("live");
  if (badge.textContent !== text) badge.textContent = text;
  badge.title = text; // a long wait is cut off there
  badge.className = `tag ${kind}`;
}

/** What was said is marked in the film strip; the keys are there once it is known who asks. */
function onReviews() {
  questions.take(reviews.questions);
  for (const [spec, label, run] of reviews.commands) bind(spec, label, run, { group: "Review" });
  for (let seq = 0; seq < store.total; seq += 1) film.review(seq, reviews.of(seq)[0]?.verdict);
}

function bindKeys() {
  /** @type {[string, string, () => void][]} */
  const keys = [
    ["ArrowRight", "Next step", () => goStep(1)],
    ["ArrowLeft", "Previous step", () => goStep(-1)],
    ["Shift+ArrowRight", "Next turn", () => goTurn(1)],
    ["Shift+ArrowLeft", "Previous turn", () => goTurn(-1)],
    ["n", "Next failure", () => goFailure(1)],
    ["p", "Previous failure", () => goFailure(-1)],
    ["o", "Only failures", () => showOnlyFailures(!onlyFailures)],
    ["f", "Follow live", () => follow(!following)],
    ["h", "Marks in the page", () => page.toggleMarks()],
    ["H", "Candidate marks in the page", () => page.toggleMarks(["candidate"])],
    ["j", "Next conversation of the run", () => goConversation("next")],
    ["k", "Previous conversation of the run", () => goConversation("previous")],
    ["c", "Copy the link to this step", copyLink],
    ["D", "Open the correction of its gold", openCorrection],
  ];
  if (ask) {
    keys.push(["e", "Ask the team about this step", () => ask.open(current)]);
    element("ask").addEventListener("click", () => ask.open(current));
  }
  const asked = /** @type {HTMLAnchorElement | null} */ (document.getElementById("next-asked"));
  if (asked) keys.push(["q", "Next of the review queue", () => nextAsked(asked)]);
  for (const [spec, label, run] of keys) bind(spec, label, run);
  for (const tab of document.querySelectorAll("#page [role=tab]")) {
    const name = tab.dataset.tab ?? "";
    const works = () => !tab.matches(":disabled");
    bind(String(TABS.indexOf(name) + 1), tab.textContent.trim(), () => chooseTab(name), { works });
    tab.addEventListener("click", () => chooseTab(name));
  }
}

function listen() {
  element("next-failure").addEventListener("click", () => goFailure(1));
  element("previous-failure").addEventListener("click", () => goFailure(-1));
  element("only-failures").addEventListener("click", () => showOnlyFailures(!onlyFailures));
  element("follow").addEventListener("click", () => follow(!following));
  document.addEventListener("click", (event) => {
    const link = around(event, "a[data-seq]");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (link.dataset.tab) chooseTab(link.dataset.tab);
    go(Number(link.dataset.seq));
  });
  window.addEventListener("popstate", () => {
    const named = /steps\/(\d+)\//.exec(location.pathname);
    if (!named && data.live && !store.isOver) return follow(true);
    following = false;
    return select(Number(named?.[1] ?? 0), "keep");
  });
}

const asked = new URLSearchParams(location.search).get("tab") ?? "page";
page.choose(TABS.includes(asked) ? asked : "page");
showOnlyFailures(new URLSearchParams(location.search).get("only") === "failures");
bindKeys();
listen();
running = store.complete + 1;
const followed = data.live && !location.pathname.includes("/steps/"); // no step was chosen on purpose
following = (store.rows.size === 0 || followed) && !store.isOver && !store.isStopped;
select(data.seq, location.pathname.includes("/steps/") ? "keep" : "replace");
if (data.gold) reviews.load();
showHeld();
showDrive();
const feed = new LiveFeed(
  store,
  { socket: data.socket, steps: data.steps_url, age: data.age, watched },
  { onSteps, onStatus },
);
feed.start();
