// The step page: stepping without leaving it, the rendered page in its frame, the tree's branches on demand.
import { around } from "../shared/elements.js";
import { bind, inOneLine, press } from "../shared/keys.js";
import { exchange } from "../shared/parts.js";
import { readPage } from "../shared/server.js";
import { SnapshotFrame } from "../snapshot/frame.js";

const PARTS = ["crumbs", "place", "links", "listed", "steps", "details", "tabs"];
const KEPT_MS = 4 * 60 * 1000; // addresses of rendered pages run out after ten minutes
const KEPT = 8;

/** @type {Map<string, {at: number, page: Promise<Document>}>} pages read ahead, by address */
const pages = new Map();
/** @type {SnapshotFrame | null} */
let frame = null;
let marked = true;
let turn = 0;

/** A page of this site, read once within some minutes. @param {string} url @returns {Promise<Document>} */
function read(url) {
  const known = pages.get(url);
  if (known && performance.now() - known.at < KEPT_MS) return known.page;
  const page = readPage(url);
  page.catch(() => pages.delete(url));
  pages.set(url, { at: performance.now(), page });
  if (pages.size > KEPT) pages.delete(/** @type {string} */ (pages.keys().next().value));
  return page;
}

/** How a page's frame is shown: {url, sandbox, scripted, marks, plain}, or null. @param {Document} page */
function frameData(page) {
  const script = page.getElementById("snapshot-data");
  return script ? JSON.parse(script.textContent ?? "") : null;
}

/** Go to another step, conversation or tab; falls back to loading the page when it cannot be read. @param {string} url */
async function go(url, { push = true } = {}) {
  const mine = ++turn;
  let page;
  try {
    page = /** @type {Document} */ ((await read(url)).cloneNode(true));
  } catch {
    location.assign(url);
    return;
  }
  if (mine !== turn) return;
  const stays = frame !== null && page.getElementById("snapshot") !== null;
  const data = frameData(page);
  exchange(page, stays ? PARTS : [...PARTS, "panel"]);
  document.title = page.title;
  if (push) history.pushState(null, "", url);
  const script = document.getElementById("snapshot-data");
  if (stays && script) script.textContent = JSON.stringify(data);
  showCurrent();
  await showFrame(data);
  readAhead();
}

/** The rendered page with its marks; the page before stays until this one is there. @param {any} data */
async function showFrame(data = frameData(document)) {
  const container = document.getElementById("snapshot");
  if (!container || !data) {
    frame?.destroy();
    frame = null;
    return;
  }
  if (!frame) {
    frame = new SnapshotFrame(container);
    frame.onKey = press;
    frame.onExpired = async () => {
      pages.delete(location.href);
      await showFrame(frameData(await read(location.href)));
    };
  }
  await frame.show(marked || data.scripted ? data.url : data.plain, { ...data, marks: marked ? data.marks : [] });
}

function toggleMarks() {
  marked = !marked;
  const data = frameData(document);
  if (data && frame && !frame.setMarks(marked ? data.marks : [])) showFrame(data);
}

/** Keep the current step and conversation in view in their lists, and the gold element in the tree. */
function showCurrent() {
  for (const current of document.querySelectorAll(".work [aria-current]")) current.scrollIntoView({ block: "nearest" });
  document.querySelector("#panel .gold")?.scrollIntoView({ block: "center" });
}

/** The next step's page and frame, so that stepping takes no time. */
async function readAhead() {
  const next = /** @type {HTMLAnchorElement | null} */ (document.querySelector('[data-link="next_step"]'))?.href;
  if (!next) return;
  const data = frameData(await read(next).catch(() => document));
  if (frame && data) frame.prefetch(data.url, data);
}

/** @param {string} name */
function follow(name) {
  const link = /** @type {HTMLAnchorElement | null} */ (document.querySelector(`[data-link="${name}"]`));
  if (link?.href) go(link.href);
}

/** Rows of a branch of the tree, from the server. @param {string} [url] */
async function rows(url = "") {
  const page = await readPage(url);
  return [.../** @type {HTMLElement} */ (page.querySelector("ul")).children].map((row) => document.adoptNode(row));
}

document.addEventListener("click", async (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const more = around(event, "[data-more]");
  if (more) more.parentElement?.replaceWith(...(await rows(more.dataset.more)));
  const link = around(event, ".work a[href], #links a[href]");
  if (!link) return;
  event.preventDefault();
  go(/** @type {HTMLAnchorElement} */ (link).href);
});
// `toggle` does not bubble, so it is caught on its way down.
document.addEventListener(
  "toggle",
  async (event) => {
    const details = event.target;
    if (!(details instanceof HTMLDetailsElement) || !details.open) return;
    const { branch } = details.dataset;
    if (!branch) return;
    delete details.dataset.branch;
    details.querySelector("ul")?.replaceChildren(...(await rows(branch)));
  },
  true,
);
window.addEventListener("popstate", () => go(location.href, { push: false }));

bind("ArrowLeft", "Previous step", () => follow("previous_step"));
bind("ArrowRight", "Next step", () => follow("next_step"));
bind("Shift+ArrowLeft", "Previous turn", () => follow("previous_turn"));
bind("Shift+ArrowRight", "Next turn", () => follow("next_turn"));
bind("j", "Next conversation", () => follow("next_conversation"));
bind("k", "Previous conversation", () => follow("previous_conversation"));
bind("h", "Show or hide the marks", toggleMarks);
document.querySelectorAll("#tabs [role=tab]").forEach((tab, place) => {
  bind(String(place + 1), `Show ${inOneLine(tab.textContent)}`, () => document.getElementById(tab.id)?.click(), {
    group: "Views",
  });
});
showCurrent();
showFrame().then(readAhead);
