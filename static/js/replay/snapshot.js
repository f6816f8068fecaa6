// The middle pane: the recorded page with its marks, before and after, the pruned tree, the screenshot.
import { SnapshotFrame } from "../snapshot/frame.js";
import { amount, the } from "../shared/elements.js";
import { call } from "../shared/server.js";
import { between, noPage, nothingAfter } from "./decided.js";
import { Picture } from "./picture.js";
import { Pointers } from "../snapshot/pointers.js";
import { RegionEditor, regionOf } from "./region.js";
import { TreePanel } from "./tree.js";

const FRESH_MS = 240000; // a signed address is good for at least five minutes
const KINDS = ["gold", "predicted", "candidate", "changed"];
const HIDDEN = "The page is hidden from you with the gold: it shows what a gold action did.";
const NO_SCREENSHOT = "No screenshot was kept of this step.";
const MARKS_KEY = "replay-marks";
const CLEANED_KEY = "replay-cleaned";

export const TABS = ["page", "change", "tree", "screenshot"];

/** @typedef {import("../snapshot/frame.js").Mark} Mark */
/** @typedef {{snapshot: string, url: string, plain: string, sandbox: string, scripted: boolean}} PageView */
/** @typedef {import("./region.js").Region} Region */

/**
 * @typedef {{
 *   url: string,
 *   onKey: (key: string, options: {shift: boolean}) => void,
 *   onPick: (node: string) => void,
 *   onExpired: () => void,
 *   awaited: (seq: number) => string,
 * }} SnapshotOptions
 */

export class SnapshotPane {
  /**
   * @param {HTMLElement} root with [role=tab] and [role=tabpanel] elements named by `data-tab`
   * @param {SnapshotOptions} options
   */
  constructor(root, options) {
    this.root = root;
    this.options = options;
    this.tab = "page";
    /** @type {Record<string, SnapshotFrame>} by name */
    this.frames = {};
    /** @type {Record<string, string>} the page in each of them */
    this.inFrames = {};
    /** @type {Map<string, {url: string, at: number}>} by the page */
    this.addresses = new Map();
    this.tree = new TreePanel(the(root, "[data-lines]"), options.url);
    /** What an action changed, by the number of its step. @type {Map<number, {before: Mark[], after: Mark[], error: string}>} */
    this.changes = new Map();
    /** @type {Pointers[]} */
    this.pointers = [];
    this.seq = -1;
    /** @type {Record<string, any> | null} of the step that is shown */
    this.detail = null;
    /** @type {Record<string, any> | null} its pages */
    this.snapshot = null;
    /** Of the page that is asked for. @type {Promise<void>} */
    this.showing = Promise.resolve();
    /** The element that was clicked in the page of this step. @type {string | null} */
    this.picked = null;
    /** @type {RegionEditor | null} */
    this.editor = null;
    /** @type {Region | null} */
    this.wanted = null;
    this.shownMarks = new Set(JSON.parse(sessionStorage.getItem(MARKS_KEY) ?? "null") ?? KINDS);
    this.facts = the(root, "[data-facts]");
    this.picture = new Picture(the(root, "[data-screenshot]"));
    for (const button of root.querySelectorAll("[data-mark]")) {
      button.addEventListener("click", () => this.toggleMarks([button.dataset.mark ?? ""]));
    }
    this.cleaned = sessionStorage.getItem(CLEANED_KEY) === "true";
    for (const button of root.querySelectorAll("[data-version]")) {
      button.addEventListener("click", () => this.#chooseVersion(button.dataset.version === "cleaned"));
    }
    this.#showToggles();
  }

  /** @param {string} name */
  #frame(name) {
    if (!this.frames[name]) {
      const frame = new SnapshotFrame(the(this.root, `[data-frame=${name}]`), {
        title: name === "after" ? "Page after the step" : "Page of the step",
      });
      frame.onKey = this.options.onKey;
      frame.onPick = (node) => {
        this.picked = node;
        this.options.onPick(node);
      };
      frame.onExpired = this.options.onExpired;
      if (name === "page") frame.onMarked = (found) => this.#showUnmarked(found);
      if (name !== "after")
        this.pointers.push(new Pointers(the(this.root, `[data-frame=${name}]`), frame, () => this.#known));
      this.frames[name] = frame;
    }
    return this.frames[name];
  }

  /** Say of the gold and the predicted element when they cannot be seen: then there is no mark to look for. @param {{missing: string[], hidden: string[]}} found */
  #showUnmarked({ missing, hidden }) {
    const marks = this.#known.filter(({ kind }) => kind !== "candidate");
    const named = (/** @type {string[]} */ ids) => marks.filter(({ id }) => ids.includes(id)).map(({ kind }) => kind);
    const parts = [
      ...named(missing).map((kind) => `${kind}: not in this page`),
      ...named(hidden).map((kind) => `${kind}: hidden, its surroundings are marked`),
    ];
    the(this.root, "[data-unmarked]").textContent = parts.join(" · ");
  }

  /** The marks of the step that is shown, the most important first. @returns {Mark[]} */
  get #known() {
    return this.detail?.marks ?? [];
  }

  /** Keep the old page, dimmed only when the new one takes long. */
  wait() {
    this.root.setAttribute("aria-busy", "true");
  }

  /** @param {string} message */
  showError(message) {
    this.root.removeAttribute("aria-busy");
    this.#note(this.tab, message);
  }

  /** @param {number} seq @param {{detail: Record<string, any> | null, snapshot: Record<string, any>}} view */
  async show(seq, { detail, snapshot }) {
    this.picked = null;
    this.hideRegion();
    this.seq = seq;
    this.detail = detail;
    this.snapshot = snapshot;
    this.root.removeAttribute("aria-busy");
    this.facts.textContent = snapshot.before
      ? `${amount(snapshot.elements, "element")} · ${Math.round(snapshot.bytes / 1024).toLocaleString("en")} KB`
      : "";
    the(this.root, "[data-versions]").hidden = !snapshot.raw;
    the(this.root, "[role=tab][data-tab=screenshot]").toggleAttribute("disabled", !snapshot.screenshot);
    await (this.showing = this.#showTab(snapshot));
  }

  /** Returns why it cannot be chosen, "" where it was. @param {string} tab */
  choose(tab) {
    if (the(this.root, `[role=tab][data-tab=${tab}]`).matches(":disabled"))
      return this.snapshot?.hidden ? HIDDEN : NO_SCREENSHOT;
    this.tab = tab;
    for (const element of this.root.querySelectorAll("[role=tab]")) {
      element.setAttribute("aria-selected", String(element.dataset.tab === tab));
      element.tabIndex = element.dataset.tab === tab ? 0 : -1;
    }
    for (const panel of this.root.querySelectorAll("[role=tabpanel]")) panel.hidden = panel.dataset.tab !== tab;
    the(this.root, "[data-mark=changed]").hidden = tab !== "change";
    if (this.snapshot) this.showing = this.#showTab(this.snapshot);
    return "";
  }

  /** @param {Record<string, any>} pages of the step that is shown */
  async #showTab(pages) {
    if (this.tab === "page") await this.#showFrame("page", this.#version(pages), pages.hidden);
    else if (this.tab === "change") await this.#showChange(pages);
    else if (this.tab === "tree") await this.#showTree();
    else await this.#showPicture(pages);
  }

  /** The screenshot, marked where it is known where the elements were. @param {Record<string, any>} pages */
  async #showPicture({ screenshot, place, hidden }) {
    const { seq } = this;
    this.picture.show(screenshot);
    this.#note("screenshot", screenshot ? "" : hidden ? HIDDEN : NO_SCREENSHOT);
    if (screenshot && !place && this.#known.length)
      place = await call(`${this.options.url}steps/${seq}/place/`, undefined, { cache: "default" }).catch(() => null);
    if (this.seq === seq) this.picture.setMarks(this.#marks(), place);
  }

  /** Before and after, each with the elements by which they differ. @param {Record<string, any>} pages */
  async #showChange(pages) {
    const { seq } = this;
    the(this.root, "[data-action]").textContent = between(this.detail);
    const after = this.#version({ before: pages.after, raw: pages.raw_after });
    await Promise.all([
      this.#showFrame("before", this.#version(pages), pages.hidden),
      this.#showFrame("after", after, pages.hidden),
    ]);
    if (!pages.before?.scripted || !pages.after || this.changes.has(seq)) return;
    try {
      this.changes.set(
        seq,
        await call(`${this.options.url}steps/${seq}/change-marks/`, undefined, { cache: "default" }),
      );
    } catch {
      return; // the pages are there, and the decision's panel says what changed
    }
    if (this.seq !== seq || this.tab !== "change") return;
    this.frames.before?.setMarks(this.#marks("before"));
    const marks = this.#marks("after");
    this.frames.after?.setMarks(marks, { scrollTo: marks.at(-1)?.id ?? null });
  }

  /** @param {string} name @param {PageView | null} view @param {boolean} isHidden */
  async #showFrame(name, view, isHidden) {
    const unrecorded = name === "after" ? nothingAfter(this.detail) : noPage(this.detail);
    const none = this.options.awaited(this.seq) || unrecorded;
    this.#note(name, view ? "" : isHidden ? HIDDEN : none);
    if (!view) return;
    const frame = this.#frame(name);
    const marks = this.#marks(name);
    const first = name === "after" ? marks.at(-1) : this.#known.find(({ kind }) => kind !== "candidate");
    const scrollTo = first?.id ?? null;
    const plain = !view.scripted && this.shownMarks.size === 0; // there the marks are part of the address
    if (this.inFrames[name] === view.snapshot && view.scripted) {
      frame.setMarks(marks, { scrollTo });
      return;
    }
    this.inFrames[name] = view.snapshot;
    const { sandbox, scripted } = view;
    await frame.show(plain ? view.plain : this.#address(view), { sandbox, scripted, marks, scrollTo });
  }

  /** The address that this page was loaded from, while it is good: then its frame is used again. @param {PageView} view */
  #address({ snapshot, url, scripted }) {
    if (!scripted) return url; // holds the marks of one step
    const known = this.addresses.get(snapshot);
    if (known && performance.now() - known.at < FRESH_MS) return known.url;
    this.addresses.set(snapshot, { url, at: performance.now() });
    return url;
  }

  /** Load the page of a step that may be shown next. @param {{snapshot: Record<string, any>}} view */
  prefetch({ snapshot }) {
    const view = this.#version(snapshot);
    if (this.tab === "page" && view && this.frames.page && view.snapshot !== this.inFrames.page)
      this.frames.page.prefetch(this.#address(view), view);
  }

  /** Those of a frame that are shown; the most important last: it is drawn over the others. @param {string} name */
  #marks(name = "page") {
    const changes = this.changes.get(this.seq);
    const changed = (name === "before" || name === "after") && changes ? changes[name] : [];
    return this.#shownOf([...(name === "after" ? [] : this.#known), ...changed]).toReversed();
  }

  /** @param {Mark[]} marks */
  #shownOf(marks) {
    return marks.filter(({ kind }) => this.shownMarks.has(kind));
  }

  /** Show or hide kinds of marks; all of them are shown when one was hidden. */
  toggleMarks(kinds = KINDS) {
    const show = kinds.some((kind) => !this.shownMarks.has(kind));
    for (const kind of kinds) show ? this.shownMarks.add(kind) : this.shownMarks.delete(kind);
    sessionStorage.setItem(MARKS_KEY, JSON.stringify([...this.shownMarks]));
    this.#showToggles();
    if (!this.snapshot) return;
    const inFrames = this.tab === "page" || this.tab === "change";
    if (!this.snapshot.before?.scripted)
      this.inFrames = {}; // another address
    else if (inFrames) return Object.entries(this.frames).forEach(([name, one]) => one.setMarks(this.#marks(name)));
    this.#showTab(this.snapshot);
  }

  #showToggles() {
    for (const button of this.root.querySelectorAll("[data-mark]")) {
      button.setAttribute("aria-pressed", String(this.shownMarks.has(button.dataset.mark)));
    }
    for (const button of this.root.querySelectorAll("[data-version]")) {
      button.setAttribute("aria-pressed", String((button.dataset.version === "cleaned") === this.cleaned));
    }
  }

  /**
   * The page as it was recorded, or as it is after cleaning, which is what agents see.
   * @param {Record<string, any>} pages
   * @returns {PageView | null}
   */
  #version({ before, raw }) {
    return this.cleaned ? before : (raw ?? before);
  }

  /** @param {boolean} cleaned */
  #chooseVersion(cleaned) {
    this.cleaned = cleaned;
    sessionStorage.setItem(CLEANED_KEY, String(cleaned));
    this.#showToggles();
    this.hideRegion();
    if (this.snapshot) this.showing = this.#showTab(this.snapshot);
  }

  /** Which of the step's pages is shown, as the API names it; "" in tabs of which no region is named. */
  get #pageName() {
    if (this.tab !== "page") return this.tab === "screenshot" ? this.tab : "";
    return this.snapshot?.raw && !this.cleaned ? "raw_snapshot" : "snapshot";
  }

  /** The page that a region is of, in its tab; its frame, laid out as the region was measured. Null where there is none that can be measured. @param {Region | null} region @param {boolean} brings it into the window */
  async #frameOf(region, brings = true) {
    const tab = (region?.page ?? this.tab) === "screenshot" ? "screenshot" : "page";
    if (this.tab !== tab) this.choose(tab);
    if (region && region.page !== this.#pageName) this.#chooseVersion(region.page === "snapshot");
    if (brings) (tab === "page" ? this.frames.page : this.picture)?.bring();
    await this.showing;
    const view = this.snapshot && this.#version(this.snapshot);
    const frame = tab === "screenshot" ? this.picture : view?.scripted ? this.#frame("page") : null;
    const measured = await frame?.measure();
    if (!frame || !measured) return null;
    if (region && region.layout_width !== measured.layout) frame.layOut(region.layout_width + measured.bar);
    return frame;
  }

  /**
   * Let a rectangle of the page be named, or another in place of `region`. Resolves to it; null: none any more;
   * undefined: all stays. Raises where pages cannot be measured.
   * @param {Region | null} region
   * @returns {Promise<Region | null | undefined>}
   */
  async editRegion(region) {
    this.hideRegion();
    const seq = this.seq;
    const frame = await this.#frameOf(region);
    let measured = await frame?.measure();
    if (seq !== this.seq) return undefined;
    if (!frame || !measured) throw new Error(this.#whyNoRegion());
    frame.layOut(measured.layout + measured.bar); // it stays as wide while the window changes
    const isPicture = frame === this.picture;
    const holder = isPicture ? this.picture.holder : the(this.root, "[data-frame=page]");
    const editor = new RegionEditor(holder, frame, measured, isPicture ? [] : this.#named());
    this.editor = editor;
    const box = await editor.edit(region);
    if (this.editor !== editor) return undefined;
    measured = (await frame.measure()) ?? measured;
    this.hideRegion();
    return box && regionOf(box, this.#pageName, measured);
  }

  #whyNoRegion() {
    if (!this.snapshot?.before && !this.snapshot?.raw) return "This step has no page of which a region could be named";
    return "Regions need recorded pages on an origin of their own (SNAPSHOT_ORIGIN)";
  }

  /** Elements whose box may be a region: the one that was clicked, and what is marked. */
  #named() {
    const node = (/** @type {string} */ kind) => this.#known.find((mark) => mark.kind === kind)?.id ?? "";
    const named = [
      { key: "s", label: "Selected", node: this.picked ?? "" },
      { key: "p", label: "Predicted", node: node("predicted") },
      { key: "g", label: "Gold", node: node("gold") },
    ];
    return named.filter((one) => one.node);
  }

  /** Outline a region that somebody named; `opens`: also where another tab or version is shown. @param {Region} region @param {number} number @param {boolean} opens */
  async showRegion(region, number, opens) {
    if (this.editor || (!opens && region.page !== this.#pageName)) return;
    const wanted = (this.wanted = region);
    const frame = await this.#frameOf(region, opens);
    if (this.wanted === wanted) frame?.setRegion(region, String(number));
  }

  hideRegion() {
    this.wanted = null;
    const editor = this.editor;
    this.editor = null;
    editor?.leave();
    this.picture.setRegion(null);
    this.frames.page?.setRegion(null);
    this.frames.page?.layOut(null);
  }

  /** @param {string | null} node */
  hover(node) {
    for (const name of ["page", "before"]) this.frames[name]?.hover(node);
    this.tree.point(node);
    this.picture.point(node);
  }

  /** @param {string} node */
  scrollTo(node) {
    for (const name of ["page", "before"]) this.frames[name]?.scrollTo(node);
    this.tree.scrollTo(node);
    this.picture.bringMark(node);
  }

  async #showTree() {
    const { seq, detail } = this;
    this.#note("tree", detail ? "" : "Not decided yet: the pruned tree is what the agent keeps of the page.");
    if (!detail) return this.tree.clear();
    const note = await this.tree.show(seq, detail, this.#shownOf(this.#known), this.shownMarks.has("candidate"));
    if (note !== null && this.tab === "tree") this.#note("tree", note);
  }

  /** @param {string} name @param {string} text */
  #note(name, text) {
    const note = this.root.querySelector(`[data-note=${name}]`) ?? the(this.root, "[data-note=page]");
    note.textContent = text;
    note.hidden = !text;
  }
}
