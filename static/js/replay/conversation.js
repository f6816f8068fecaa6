// The left pane and the film strip: every step of the conversation, stored or not, and where we are.
import { actionText, make, milliseconds } from "../shared/elements.js";

const SAID = { ok: "right", bad: "wrong", done: "decided", running: "being decided", pending: "not decided yet" };
const DENSE = 60; // cells; above it they carry no numbers

/** Of a hidden step a row tells only that it was decided. @param {any} row */
function isShown(row) {
  return row !== undefined && row.operation !== null;
}

/** @param {any} row */
function decided(row) {
  return isShown(row) ? actionText(row) : "hidden";
}

/** Turns with their steps, as links: a step's own address opens in another tab too. */
export class ConversationPane {
  /** @param {HTMLElement} root @param {import("./store.js").ReplayStore} store */
  constructor(root, store) {
    this.root = root;
    this.store = store;
    /** @type {HTMLElement[]} */
    this.nodes = [];
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

  update(seq) {
    const [link, row, mark] = [this.links[seq], this.store.rows.get(seq), this.store.mark(seq)];
    if (!link) return;
    const [sign, text, time] = link.children;
    sign.className = `sign ${mark}`;
    sign.replaceChildren(make("span.sr", {}, SAID[mark]));
    text.textContent = row ? decided(row) : mark === "running" ? "…" : "pending";
    text.title = row?.action_repr ?? "";
    time.textContent = row?.done_by || (isShown(row) ? milliseconds(row.milliseconds) : "");
    time.classList.toggle("person", Boolean(row?.done_by));
    time.title = row?.done_by ? `Shown by ${row.done_by}, in the agent's place` : "";
    link.classList.toggle("todo", !row);
  }

  select(seq, previous) {
    this.links[previous]?.removeAttribute("aria-current");
    if (!this.links[seq]) return;
    this.links[seq].setAttribute("aria-current", "step");
    this.links[seq].scrollIntoView({ block: "nearest" });
  }
}

/** One cell per step, turns apart: solid green foot for right, double red with a cross for wrong. */
export class FilmStrip {
  constructor(root, store) {
    this.root = root;
    this.store = store;
    this.build();
  }

  /** Again when an episode has more steps than before. */
  build() {
    const { root, store } = this;
    this.cells = [];
    root.replaceChildren();
    root.classList.toggle("dense", store.total > DENSE);
    for (const turn of store.turns) {
      const group = make("div.reel", {
        "data-steps": turn.step_count,
        title: `Turn ${turn.index + 1}: ${turn.instruction}`,
      });
      for (let seq = turn.first; seq < turn.first + turn.step_count; seq += 1) group.append(this.#cell(seq));
      group.style.flexGrow = turn.step_count;
      root.append(group);
    }
  }

  #cell(seq) {
    // The pane holds the same links in the order of reading; these are for the mouse.
    const cell = make("a.cell", { href: `${this.store.url}steps/${seq}/`, "data-seq": seq, tabindex: -1 }, seq + 1);
    cell.append(make("span.did"));
    this.cells.push(cell);
    this.update(seq);
    return cell;
  }

  update(seq) {
    const cell = this.cells[seq];
    if (!cell) return;
    const [row, mark] = [this.store.rows.get(seq), this.store.mark(seq)];
    cell.className = `cell ${mark}`;
    cell.querySelector(".did").textContent = isShown(row) ? actionText(row) : "";
    cell.title = `Step ${seq + 1}: ${isShown(row) ? `${actionText(row)} · ${SAID[mark]}` : SAID[mark]}`;
  }

  /** A step that people judged: the first letter of what they said. */
  review(seq, verdict) {
    if (verdict) this.cells[seq].dataset.review = verdict;
    else delete this.cells[seq].dataset.review;
  }

  select(seq, previous) {
    this.cells[previous]?.removeAttribute("aria-current");
    if (!this.cells[seq]) return;
    this.cells[seq].setAttribute("aria-current", "step");
    this.cells[seq].scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}
