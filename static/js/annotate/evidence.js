// The page beside the text: rendered with its gold element, as a tree, its candidates; and a search in it.
import { amount, make } from "../shared/elements.js";
import { press } from "../shared/keys.js";
import { SnapshotFrame } from "../snapshot/frame.js";
import { call } from "../shared/server.js";
import { shownStep } from "./film.js";
import { TreeView } from "./tree.js";

const FRESH_MS = 240_000; // addresses of rendered pages are good for at least five minutes
const KEPT_TREES = 8;
const NO_PAGE = "The source recorded no page for this step.";
const OFFLINE = "This page was not read before the connection was lost; it is shown when it is back.";

/** @typedef {import("./document.js").RecordedStep} RecordedStep */
/** @typedef {import("./tree.js").Node} Node */

export const TABS = ["page", "tree", "candidates"];

export class Evidence {
  tab = "page";
  /** The step that is shown; none before the first. @type {RecordedStep | null} */
  #step = null;
  #turn = 0;
  #isMarked = true;
  /** @type {Map<number, Promise<{nodes: import("./tree.js").Node[], error?: string}>>} by step */
  #trees = new Map();
  /** @type {Map<number, {frame: Record<string, any> | null, at: number}>} by step */
  #frames = new Map();
  /** Addresses whose pages have been here, so that they can be shown without the network. */
  #loaded = new Set();
  #isMissed = false;
  #found = { text: "", places: /** @type {number[]} */ ([]), at: -1 };

  /** Called with the id of an element that was pointed out, in the page or in a tree. @type {(id: string) => void} */
  onElement = () => {};

  /** @param {HTMLElement} root @param {import("./document.js").AnnotationDocument} document */
  constructor(root, document) {
    this.root = root;
    this.document = document;
    const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (root.querySelector(name));
    this.action = part("#action");
    this.facts = part("#page-facts");
    this.search = /** @type {HTMLInputElement} */ (part("#search"));
    this.count = part("#search-count");
    this.note = part("#page-note");
    for (const step of document.steps) this.#frames.set(step.id, { frame: step.frame, at: performance.now() });
    this.frame = this.#opened();
    window.addEventListener("online", () => this.#again());
    const options = {
      onPick: (/** @type {string} */ id) => this.#point(id),
      onHover: (/** @type {string | null} */ id) => this.frame.hover(id),
    };
    this.tree = new TreeView(part("#panel-tree"), options);
    this.candidates = new TreeView(part("#panel-candidates"), options);
    for (const tab of root.querySelectorAll("[role=tab]"))
      tab.addEventListener("click", () => this.choose(tab.dataset.tab ?? ""));
    this.search.addEventListener("input", () => this.#find());
    this.search.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.next(event.shiftKey ? -1 : 1);
      this.search.blur();
    });
  }

  /** Show the page of a step; the one before stays until this one is there. @param {number} place */
  async show(place) {
    const begun = performance.now();
    const turn = ++this.#turn;
    this.#step = this.document.steps[place];
    this.#say();
    const shown = this.tab === "page" ? this.#showFrame() : this.#showTree();
    await shown;
    if (turn !== this.#turn) return;
    performance.measure("step shown", { start: begun });
    if (this.tab === "page") await this.#showTree(); // the search and the counts want it too
    if (turn === this.#turn) this.#prefetch(place);
  }

  /** @param {string} tab */
  choose(tab) {
    this.tab = tab;
    for (const button of this.root.querySelectorAll("[role=tab]")) {
      button.setAttribute("aria-selected", String(button.dataset.tab === tab));
      button.tabIndex = button.dataset.tab === tab ? 0 : -1;
      const panel = /** @type {HTMLElement} */ (this.root.querySelector(`#panel-${button.dataset.tab}`));
      panel.hidden = button.dataset.tab !== tab;
    }
    if (!this.#step) return;
    if (tab === "page") this.#showFrame();
    else this.#showTree();
  }

  toggleMarks() {
    this.#isMarked = !this.#isMarked;
    if (this.#step) this.#showFrame();
  }

  /** Go to the next (1) or previous (-1) place that the search found. @param {number} direction */
  next(direction) {
    const { places, at } = this.#found;
    if (!places.length) return;
    this.#found.at = (at + direction + places.length) % places.length;
    this.#showFound();
  }

  #opened() {
    const place = /** @type {HTMLElement} */ (this.root.querySelector("#snapshot"));
    const frame = new SnapshotFrame(place, { title: "Page of the step" });
    frame.onKey = press;
    frame.onPick = (id) => {
      this.#each((tree) => tree.point(id));
      this.onElement(id);
    };
    frame.onExpired = () => {
      this.#frames.delete(this.#shown.id);
      this.#showFrame();
    };
    return frame;
  }

  /** The step that is shown, where there must be one. */
  get #shown() {
    if (!this.#step) throw new Error("no step is shown");
    return this.#step;
  }

  /** The network is back: what was asked for without it is read now. */
  #again() {
    if (!this.#isMissed) return;
    this.#isMissed = false;
    this.frame.destroy(); // a frame that could not be loaded would be taken for the page
    this.#loaded.clear();
    this.frame = this.#opened();
    this.show(this.#shown.index);
  }

  /** @param {(tree: TreeView) => void} run */
  #each(run) {
    run(this.tree);
    run(this.candidates);
  }

  #say() {
    const step = this.#shown;
    const { operation, name, value } = shownStep(step);
    this.action.title = step.action_repr;
    this.action.replaceChildren(
      make("span.faint", {}, `step ${step.index + 1} `),
      make("b", {}, operation),
      value ? ` “${value}”` : "",
      name ? make("span.muted", {}, ` ${value ? "in " : ""}${name}`) : "",
    );
  }

  async #showFrame() {
    const step = this.#shown;
    const view = await this.#view(step).catch(() => null);
    if (step !== this.#step) return;
    const url = view && (this.#isMarked || view.scripted ? view.url : view.plain);
    this.#isMissed ||= !navigator.onLine;
    const note =
      view === null ? (navigator.onLine ? NO_PAGE : OFFLINE) : navigator.onLine || this.#loaded.has(url) ? "" : OFFLINE;
    this.note.textContent = note;
    this.note.hidden = !note;
    if (note) return;
    await this.frame.show(url, { ...view, marks: this.#isMarked ? view.marks : [] });
    this.#loaded.add(url);
  }

  /** How a step's page is shown, with an address that is still good. @param {RecordedStep} step */
  async #view(step) {
    const known = this.#frames.get(step.id);
    if (known && performance.now() - known.at < FRESH_MS) return known.frame;
    const { frame } = await call(step.frame_url);
    this.#frames.set(step.id, { frame, at: performance.now() });
    return frame;
  }

  async #showTree() {
    const step = this.#shown;
    /** @type {{nodes: Node[], error?: string}} */
    let answer;
    try {
      answer = await this.#tree(step);
    } catch (error) {
      answer = { nodes: [], error: `The tree could not be read: ${error.message}` };
    }
    if (step !== this.#step) return;
    const begun = performance.now();
    if (this.tree.nodes !== answer.nodes) {
      this.tree.show(answer.nodes, answer.error);
      const candidates = answer.nodes
        .filter((node) => node[4] || node[5])
        .map(([, ...rest]) => /** @type {Node} */ ([0, ...rest]));
      this.candidates.show(candidates, "This step has no candidates on its page.");
      this.facts.textContent = answer.nodes.length
        ? `${amount(answer.nodes.length, "element")} · ${amount(candidates.length, "candidate")}`
        : "";
      this.#find({ isTyped: false });
    }
    performance.measure("tree shown", { start: begun });
  }

  /** @param {RecordedStep} step @returns {Promise<{nodes: Node[], error?: string}>} */
  #tree(step) {
    const known = this.#trees.get(step.id);
    if (known) return known;
    const answer = call(step.tree_url, undefined, { cache: "default" });
    answer.catch(() => this.#trees.delete(step.id));
    this.#trees.set(step.id, answer);
    const [oldest] = this.#trees.keys();
    if (this.#trees.size > KEPT_TREES) this.#trees.delete(oldest);
    return answer;
  }

  /** What the next key is likely to ask for. The times of showing and reading are in the browser's own timeline. @param {number} place */
  async #prefetch(place) {
    for (const near of [place + 1, place - 1]) {
      const step = this.document.steps[near];
      if (!step) continue;
      const view = await this.#view(step).catch(() => null);
      await this.#tree(step).catch(() => null);
      if (this.#step?.index !== place) return;
      if (!view || this.tab !== "page" || !navigator.onLine) continue;
      await this.frame.prefetch(view.url, view); // one at a time: a page may be large
      this.#loaded.add(view.url);
    }
    if (this.#step?.index === place) performance.mark("neighbours read");
  }

  #find({ isTyped = true } = {}) {
    const text = this.search.value.trim().toLowerCase();
    /** @type {number[]} */
    const places = [];
    if (text)
      for (const [place, node] of this.tree.nodes.entries())
        if (`${node[2]} ${node[3]}`.toLowerCase().includes(text)) places.push(place);
    this.#found = { text, places, at: places.length ? 0 : -1 };
    if (text || isTyped) this.#showFound();
  }

  #showFound() {
    const { text, places, at } = this.#found;
    this.count.textContent = !text ? "" : places.length ? `${at + 1} of ${places.length}` : "not found";
    this.tree.mark(places, places[at] ?? -1);
    if (at < 0) return;
    const id = this.tree.nodes[places[at]][1];
    this.frame.scrollTo(id);
    this.frame.hover(id);
  }

  /** @param {string} id */
  #point(id) {
    this.frame.scrollTo(id);
    this.frame.hover(id);
    this.onElement(id);
  }
}
