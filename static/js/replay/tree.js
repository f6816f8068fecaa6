// The pruned tree of a step: what the agent keeps of the page, a line an element, opened at the gold one.
import { amount, make } from "../shared/elements.js";
import { call, Refused } from "../shared/server.js";

/** @typedef {import("../snapshot/frame.js").Mark} Mark */
/** @typedef {[depth: number, tag: string, text: string, node: string]} Line */
/** @typedef {{lines: Line[], error?: string, cut?: boolean, missing?: number, gold?: string}} Tree */

export class TreePanel {
  /** By the number of the step. @type {Map<number, Tree>} */
  #trees = new Map();
  #opened = -1;

  /** @param {HTMLElement} root gets the lines @param {string} url of the trajectory */
  constructor(root, url) {
    this.root = root;
    this.url = url;
  }

  /**
   * Show what of a step's page is kept. Resolves to a note beside it, or to null where another step is asked for by then.
   * @param {number} seq
   * @param {Record<string, any>} detail
   * @param {Mark[]} marks those that are shown, the most important first
   * @param {boolean} isRanked whether ranks are shown
   */
  async show(seq, detail, marks, isRanked) {
    this.asked = seq;
    const tree = await this.#tree(seq);
    if (this.asked !== seq) return null;
    const shown = new Map(marks.toReversed().map((mark) => [mark.id, mark]));
    /** @type {{node_id: string}[]} */
    const candidates = isRanked ? detail.candidates : [];
    const ranks = new Map(candidates.map(({ node_id: node }, place) => [node, place + 1]));
    const text = detail.trace.simplify?.text;
    const lines = tree.lines.map((line) => row(line, shown, ranks));
    this.root.replaceChildren(...(text ? [make("pre", {}, text)] : []), ...lines);
    this.#open(seq);
    const parts = [
      tree.error,
      tree.cut && "cut after 2,000 lines",
      tree.missing && `${amount(tree.missing, "kept element")} not in the page`,
      !tree.lines.length && !tree.error && "nothing was kept",
      tree.gold,
    ];
    return parts.filter(Boolean).join(" · ");
  }

  clear() {
    this.asked = -1;
    this.root.replaceChildren();
  }

  /** @param {string | null} node */
  point(node) {
    for (const line of this.root.querySelectorAll(".pointed")) line.classList.remove("pointed");
    if (node) this.#line(node)?.classList.add("pointed");
  }

  /** @param {string} node */
  scrollTo(node) {
    this.#line(node)?.scrollIntoView({ block: "center" });
  }

  /** @param {string} node */
  #line(node) {
    return this.root.querySelector(`[data-node="${CSS.escape(node)}"]`);
  }

  /** At the gold element, else at the predicted one; once for each step, so that nobody who reads is sent away. @param {number} seq */
  #open(seq) {
    if (this.#opened === seq) return;
    this.#opened = seq;
    const first = this.root.querySelector(".line.mark-gold") ?? this.root.querySelector(".line.mark-predicted");
    if (first) first.scrollIntoView({ block: "center" });
    else this.root.parentElement?.scrollTo(0, 0);
  }

  /** @param {number} seq @returns {Promise<Tree>} */
  async #tree(seq) {
    const known = this.#trees.get(seq);
    if (known) return known;
    try {
      /** @type {Tree} */
      const tree = await call(`${this.url}steps/${seq}/tree/`, undefined, { cache: "default" });
      this.#trees.set(seq, tree);
      return tree;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { lines: [], error: `The server answered ${error.status}.` };
    }
  }
}

/** @param {Line} line @param {Map<string, Mark>} marks @param {Map<string, number>} ranks */
function row([depth, tag, text, node], marks, ranks) {
  const mark = marks.get(node);
  const chip =
    mark && mark.kind !== "candidate"
      ? make(`span.tag.${mark.kind === "gold" ? "gold" : "predicted"}`, {}, mark.label)
      : ranks.has(node)
        ? make("span.tag", {}, ranks.get(node))
        : null;
  const line = make(
    `div.line${mark ? `.mark-${mark.kind === "candidate" ? "none" : mark.kind}` : ""}`,
    { "data-node": node || null },
    make("b", {}, tag),
    " ",
    text,
    " ",
    chip,
  );
  line.style.marginLeft = `${Math.min(depth, 40) * 12}px`;
  return line;
}
