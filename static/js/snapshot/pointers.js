// Gold and predicted elements that lie above or below what is seen of a page: a button at that edge says so, and leads there.
import { make } from "../shared/elements.js";

/** @typedef {import("./frame.js").Mark} Mark */
/** @typedef {import("./frame.js").SnapshotFrame} SnapshotFrame */

const ARROWS = { above: "↑", below: "↓" };

export class Pointers {
  #above = make("div.pointers.above");
  #below = make("div.pointers.below");

  /** @param {HTMLElement} holder the element that holds the frames @param {SnapshotFrame} frame @param {() => Mark[]} marks those of the step that is shown */
  constructor(holder, frame, marks) {
    this.frame = frame;
    this.marks = marks;
    holder.append(this.#above, this.#below);
    frame.onOutside = ({ above, below }) => {
      this.#fill(this.#above, "above", above);
      this.#fill(this.#below, "below", below);
    };
  }

  clear() {
    this.#above.replaceChildren();
    this.#below.replaceChildren();
  }

  /** @param {HTMLElement} edge @param {"above" | "below"} side @param {string[]} ids */
  #fill(edge, side, ids) {
    const found = this.marks().filter(({ id, kind }) => kind !== "candidate" && ids.includes(id));
    edge.replaceChildren(
      ...found.map(({ id, kind }) => {
        const title = `The ${kind} element is ${side} what you see: show it`;
        const button = make(`button.plain.tag.${kind}`, { type: "button", title }, `${kind} ${ARROWS[side]}`);
        button.addEventListener("click", () => this.frame.scrollTo(id));
        return button;
      }),
    );
  }
}
