// The left pane and the film strip: every step of the conversation, stored or not, and where we are.
import { actionText, around, make, the } from "../shared/elements.js";

const SAID = { ok: "right", bad: "wrong", done: "decided", running: "being decided", pending: "not decided yet" };
const UNDONE = /^not done|; not done/; // an outcome of a live action
const DENSE = 60; // cells; above it they carry no numbers

/**
 * What is told of a stored step; null of one that is not stored, or hidden: of those a row tells only that it was decided.
 * @param {import("./store.js").StoredRow | undefined} row
 * @returns {import("../shared/elements.js").Action & {[name: string]: any} | null}
 */
function told(row) {
  return row !== undefined && row.operation !== null
    ? /** @type {import("../shared/elements.js").Action & {[name: string]: any}} */ (/** @type {unknown} */ (row))
    : null;
}

/** Turns with their steps, as links: a step's own address opens in another tab too. */
export class ConversationPane {
  /** @param {HTMLElement} root @param {import("./store.js").ReplayStore} store */
  constructor(root, store) {
    this.root = root;
    this.store = store;
    /** @type {HTMLElement[]} */
    this.nodes = [];
    /** @type {HTMLAnchorElement[]} */
    this.links = [];
    this.build();
  }

  /** Again when an episode has more steps than before. */
  build() {
    for (const node of this.nodes) node.remove();
    this.links = [];
    this.nodes = this.store.turns.flatMap((turn) => {
      const said = make("div.turn", {}, make("div.who", {}, `Turn ${turn.index + 1}`), make("p", {}, turn.instruction));
      return [said, ...Array.from({ length: turn.step_count }, (_, place) => this.#link(turn.first + place))];
    });
    this.root.append(...this.nodes);
  }

  /** @param {number} seq */
  #link(seq) {
    const link = make(
      "a.step",
      { href: `${this.store.url}steps/${seq}/`, "data-seq": seq },
      make("b"),
      make("span"),
      make("i"),
    );
    this.links.push(link);
    this.update(seq);
    return link;
  }

  /** @param {number} seq */
  update(seq) {
    const [link, row, mark] = [this.links[seq], this.store.rows.get(seq), this.store.mark(seq)];
    if (!link) return;
    const shown = told(row);
    const [sign, text, time] = /** @type {Iterable<HTMLElement>} */ (/** @type {unknown} */ (link.children));
    sign.className = `sign ${mark}`;
    sign.replaceChildren(make("span.sr", {}, SAID[mark]));
    const undone = UNDONE.test(shown?.outcome ?? "") ? "not done: " : "";
    text.textContent = row
      ? shown
        ? `${undone}${actionText(shown)}`
        : "hidden"
      : mark === "running"
        ? "…"
        : "pending";
    text.title = row?.action_repr ?? "";
    time.textContent = row?.done_by || this.store.took(shown);
    time.classList.toggle("person", Boolean(row?.done_by));
    time.title = row?.done_by ? `Shown by ${row.done_by}, in the agent's place` : "";
    link.classList.toggle("todo", !row);
  }

  /** @param {number} seq @param {number} previous */
  select(seq, previous) {
    this.links[previous]?.removeAttribute("aria-current");
    if (!this.links[seq]) return;
    this.links[seq].setAttribute("aria-current", "step");
    this.links[seq].scrollIntoView({ block: "nearest" });
  }

  /** The newest step, also one that is not decided yet. */
  showEnd() {
    this.links.at(-1)?.scrollIntoView({ block: "nearest" });
  }
}

/** One cell per step, turns apart: solid green foot for right, double red with a cross for wrong. */
export class FilmStrip {
  /** @type {HTMLElement | null} */
  #preview = null;
  #end = make(
    "a.film-end",
    { tabindex: -1, "data-tab": "change", title: "The page at the end of the episode" },
    make("span.when", {}, "end"),
    make("span.did", {}, "last page"),
  );

  /**
   * @param {HTMLElement} root
   * @param {import("./store.js").ReplayStore} store
   * @param {{screenshots: string | null}} options where screenshots are; null: no step has one, and no place is kept
   */
  constructor(root, store, { screenshots }) {
    this.root = root;
    this.store = store;
    this.screenshots = screenshots;
    if (screenshots) {
      root.addEventListener("pointerover", (event) => this.#showPreview(around(event, ".cell")));
      root.addEventListener("pointerleave", () => this.#showPreview(null));
    }
    /** @type {HTMLAnchorElement[]} */
    this.cells = [];
    this.build();
  }

  /** Again when an episode has more steps than before. */
  build() {
    const { root, store } = this;
    this.cells = [];
    root.replaceChildren();
    const isDense = store.total > DENSE;
    root.classList.toggle("dense", isDense);
    root.classList.toggle("pictured", Boolean(this.screenshots) && !isDense);
    for (const turn of store.turns) {
      const group = make("div.reel", {
        "data-steps": turn.step_count,
        title: `Turn ${turn.index + 1}: ${turn.instruction}`,
      });
      for (let seq = turn.first; seq < turn.first + turn.step_count; seq += 1) group.append(this.#cell(seq));
      group.style.flexGrow = String(turn.step_count);
      root.append(group);
    }
    this.#showEnd();
  }

  /** @param {number} seq */
  #cell(seq) {
    // The pane holds the same links in the order of reading; these are for the mouse.
    const cell = make("a.cell", { href: `${this.store.url}steps/${seq}/`, "data-seq": seq, tabindex: -1 });
    if (this.root.classList.contains("pictured")) cell.append(make("span.thumb"));
    cell.append(make("span.when", {}, seq + 1, make("span.took")), make("span.did"));
    this.cells.push(cell);
    this.update(seq);
    return cell;
  }

  /** @param {number} seq */
  update(seq) {
    const cell = this.cells[seq];
    if (!cell) return;
    const [shown, mark] = [told(this.store.rows.get(seq)), this.store.mark(seq)];
    cell.className = `cell ${mark}`;
    the(cell, ".did").textContent = shown ? actionText(shown) : "";
    const took = this.store.took(shown);
    the(cell, ".took").textContent = took;
    const parts = [shown ? actionText(shown) : "", SAID[mark], took];
    cell.title = `Step ${seq + 1}: ${parts.filter(Boolean).join(" · ")}`;
    this.#showThumb(cell, shown?.screenshot);
    if (seq === this.store.total - 1) this.#showEnd();
  }

  /** The page that an episode ended with leads to what its last action changed. */
  #showEnd() {
    const seq = this.store.total - 1;
    const row = told(this.store.rows.get(seq));
    if (!row?.last_page) return this.#end.remove();
    Object.assign(this.#end, { href: `${this.store.url}steps/${seq}/?tab=change` }).dataset.seq = String(seq);
    return this.root.append(this.#end);
  }

  /** The screenshot in the place that is kept for it, read when the cell comes into view. @param {HTMLElement} cell @param {string | null | undefined} screenshot */
  #showThumb(cell, screenshot) {
    const thumb = screenshot && this.root.classList.contains("pictured") ? cell.querySelector(".thumb") : null;
    if (!thumb || !screenshot || thumb.hasChildNodes()) return;
    thumb.append(this.#image(screenshot, true));
  }

  /** @param {string} screenshot @param {boolean} isLazy */
  #image(screenshot, isLazy) {
    const src = `${this.screenshots}${screenshot}/image/`;
    const image = make("img", { loading: isLazy ? "lazy" : "eager", decoding: "async", alt: "", src });
    image.addEventListener("error", () => image.remove()); // no sign of a picture that is not there
    return image;
  }

  /** Cells of long strips are too narrow for a picture: the one under the mouse is shown above the strip. @param {Element | null} cell */
  #showPreview(cell) {
    const row = cell instanceof HTMLElement ? this.store.rows.get(Number(cell.dataset.seq)) : undefined;
    const screenshot = this.root.classList.contains("dense") ? told(row)?.screenshot : null;
    this.#preview?.remove();
    this.#preview = null;
    if (!screenshot || !cell) return;
    this.#preview = make("div.film-preview", { "aria-hidden": "true" }, this.#image(screenshot, false));
    this.root.after(this.#preview);
    const [place, strip] = [cell.getBoundingClientRect(), this.root.getBoundingClientRect()];
    const left = Math.min(place.left, window.innerWidth - this.#preview.offsetWidth - 8);
    Object.assign(this.#preview.style, { left: `${left}px`, bottom: `${window.innerHeight - strip.top + 6}px` });
  }

  /** A step that people judged: the first letter of what they said. @param {number} seq @param {string} [verdict] */
  review(seq, verdict) {
    if (verdict) this.cells[seq].dataset.review = verdict;
    else delete this.cells[seq].dataset.review;
  }

  /** @param {number} seq @param {number} previous */
  select(seq, previous) {
    this.cells[previous]?.removeAttribute("aria-current");
    if (!this.cells[seq]) return;
    this.cells[seq].setAttribute("aria-current", "step");
    this.cells[seq].scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}
