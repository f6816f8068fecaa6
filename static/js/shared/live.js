// Pages that follow long work: poll a small JSON every second while it runs; when its version changes, read the
// parts of the page (elements with data-part and an id) again.
import { bindElements } from "./keys.js";
import { readAgain } from "./parts.js";
import { call } from "./server.js";

const SECOND = 1000;

/** @typedef {{version: string, running: boolean, fields: Record<string, string>, bar: number[]}} Live */

/** @param {HTMLElement} head @param {Live} live */
function show(head, live) {
  for (const [name, text] of Object.entries(live.fields)) {
    for (const element of document.querySelectorAll(`[data-field="${name}"]:not([data-state])`)) {
      if (element.textContent !== text) element.textContent = text;
    }
  }
  const state = /** @type {HTMLElement} */ (head.querySelector("[data-state]"));
  state.className = `tag ${live.fields.state}`;
  state.textContent = live.fields.state_label;
  let x = 0;
  head.querySelectorAll(".prog rect").forEach((rect, index) => {
    rect.setAttribute("x", String(x));
    rect.setAttribute("width", String(1000 * live.bar[index]));
    x += 1000 * live.bar[index];
  });
}

async function readParts() {
  const ids = [...document.querySelectorAll("[data-part]")].map((element) => element.id);
  await readAgain(location.href, ids);
  bindElements();
}

/** One round. Throws when the server cannot be reached, or answers with something else (a login page, say). @param {HTMLElement} head */
async function poll(head) {
  const live = /** @type {Live} */ (await call(head.dataset.live ?? ""));
  show(head, live);
  if (live.version !== head.dataset.version) {
    await readParts();
    head.dataset.version = live.version;
  }
  if (!live.running) {
    delete head.dataset.running;
    say(head, "announce", `${live.fields.headline}: ${live.fields.state_label}`);
  }
}

/**
 * Lists say with data-refresh how many seconds apart they are read again while something in them runs; with data-always
 * also when nothing does.
 */
async function refreshLists() {
  const list = document.querySelector("[data-refresh]");
  while (list && document.querySelector("[data-refresh] .tag:is(.running, .queued), [data-refresh][data-always]")) {
    await new Promise((resolve) => window.setTimeout(resolve, SECOND * Number(list.dataset.refresh)));
    if (!document.hidden) await readParts().catch(() => {}); // the server is away: the next round tries again
  }
}

/** @param {HTMLElement} head @param {string} field @param {string} text */
function say(head, field, text) {
  /** @type {HTMLElement} */ (head.querySelector(`[data-field="${field}"]`)).textContent = text;
}

/** @param {HTMLElement} head */
async function follow(head) {
  while ("running" in head.dataset) {
    try {
      if (!document.hidden) await poll(head); // a page nobody looks at asks nothing
    } catch {
      say(head, "detail", "The server does not answer; trying again every second.");
    }
    await new Promise((resolve) => window.setTimeout(resolve, SECOND));
  }
}

const head = document.querySelector("[data-live]");
if (head && "running" in head.dataset) follow(head);
refreshLists();
