// A page's elements as rows, of which only those in view exist: a page of any size scrolls at once.
import { around, make } from "../shared/elements.js";

const ROW = 20; // pixels, as in annotate.css
const AROUND = 12; // rows drawn above and below those in view
const DEEPEST = 24; // further in nothing would be left of a narrow pane

/** @typedef {[depth: number, id: string, tag: string, label: string, isGold: boolean, isCandidate: boolean]} Node */

export class TreeView {
  /** @type {Node[]} */
  nodes = [];
  #root;
  #space = make("div.tree-space");
  #rows = make("div.tree-rows", { role: "tree", "aria-label": "Elements of the page" });
  #found = new Set();
  #current = -1;
  #drawn = "";
  #isNew = false;
  #onPick;
  #onHover;

  /** @param {HTMLElement} root scrolls @param {{onPick: (id: string) => void, onHover: (id: string | null) => void}} options */
  constructor(root, { onPick, onHover }) {
    this.#root = root;
    this.#onPick = onPick;
    this.#onHover = onHover;
    this.#space.append(this.#rows);
    root.replaceChildren(this.#space);
    root.addEventListener("scroll", () => this.#draw(), { passive: true });
    new ResizeObserver(() => {
      if (this.#isNew && root.clientHeight) this.#center(this.nodes.findIndex((node) => node[4])); // a hidden list has no place to scroll to
      this.#draw();
    }).observe(root);
    root.addEventListener("keydown", (event) => this.#press(event));
    this.#rows.addEventListener("click", (event) => this.#clicked(event));
    this.#rows.addEventListener("pointerover", (event) => this.#onHover(this.#nodeOf(event)?.[1] ?? null));
    this.#rows.addEventListener("pointerleave", () => this.#onHover(null));
  }

  /** Another page; what is said instead where it has no rows. @param {Node[]} nodes */
  show(nodes, message = "") {
    this.nodes = nodes;
    this.#found = new Set();
    this.#current = -1;
    this.#drawn = "";
    this.#space.style.height = `${nodes.length * ROW}px`;
    this.#isNew = true;
    this.#center(nodes.findIndex((node) => node[4]));
    this.#draw();
    if (!nodes.length) this.#rows.replaceChildren(make("p.faint", {}, message || "Nothing to show."));
  }

  /** Mark what a search found, and bring one of the rows into view. @param {number[]} found @param {number} current */
  mark(found, current) {
    this.#found = new Set(found);
    this.#current = current;
    this.#reveal(current);
  }

  /** Make an element's row the current one. @param {string} id */
  point(id) {
    const place = this.nodes.findIndex((node) => node[1] === id);
    if (place < 0) return;
    this.#current = place;
    this.#reveal(place);
  }

  /** @param {number} place */
  #center(place) {
    this.#root.scrollTop = place < 0 ? 0 : place * ROW - this.#root.clientHeight / 2;
    this.#isNew = this.#root.clientHeight === 0;
  }

  /** @param {number} place */
  #reveal(place) {
    const top = place * ROW;
    const { scrollTop, clientHeight } = this.#root;
    if (place >= 0 && (top < scrollTop + ROW || top > scrollTop + clientHeight - 3 * ROW))
      this.#root.scrollTop = top - clientHeight / 2;
    this.#drawn = "";
    this.#draw();
  }

  #draw() {
    const first = Math.max(0, Math.floor(this.#root.scrollTop / ROW) - AROUND);
    const last = Math.min(
      this.nodes.length,
      Math.ceil((this.#root.scrollTop + this.#root.clientHeight) / ROW) + AROUND,
    );
    const drawn = `${first} ${last}`;
    if (drawn === this.#drawn || !this.nodes.length) return;
    this.#drawn = drawn;
    this.#rows.style.transform = `translateY(${first * ROW}px)`;
    this.#rows.replaceChildren(...this.nodes.slice(first, last).map((node, offset) => this.#row(node, first + offset)));
  }

  /** @param {Node} node @param {number} place */
  #row([depth, id, tag, label, isGold, isCandidate], place) {
    const look = [
      "div.tree-row",
      isGold && "gold",
      this.#found.has(place) && "found",
      place === this.#current && "current",
    ]
      .filter(Boolean)
      .join(".");
    const row = make(look, {
      role: "treeitem",
      "aria-level": depth + 1,
      "aria-selected": String(place === this.#current),
      "data-row": place,
      title: `${tag} ${label}\nelement ${id}`,
    });
    row.style.paddingLeft = `${10 + 12 * Math.min(depth, DEEPEST)}px`;
    row.append(make("b", {}, tag), label ? ` ${label}` : "");
    if (isGold) row.append(make("span.tag.gold", {}, "gold"));
    else if (isCandidate) row.append(make("i.candidate-mark", { title: "candidate" }));
    return row;
  }

  /** @param {Event} event */
  #nodeOf(event) {
    const row = around(event, "[data-row]");
    return row ? this.nodes[Number(row.dataset.row)] : null;
  }

  /** @param {Event} event */
  #clicked(event) {
    const node = this.#nodeOf(event);
    if (!node) return;
    this.point(node[1]);
    this.#onPick(node[1]);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 };
    if (event.key === "Enter" && this.#current >= 0) this.#onPick(this.nodes[this.#current][1]);
    else if (moves[event.key]) {
      const from = this.#current < 0 ? Math.floor(this.#root.scrollTop / ROW) : this.#current;
      this.#current = Math.max(0, Math.min(this.nodes.length - 1, from + moves[event.key]));
      this.#reveal(this.#current);
    } else return;
    event.preventDefault();
  }
}
