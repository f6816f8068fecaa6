// The film strip: the steps in order as cards with the pages that they were done on, grouped into parts; between two
// cards lies a place to cut or to join.
import { around, make, representationParts } from "../shared/elements.js";

/**
 * @typedef {{
 *   document: import("./document.js").AnnotationDocument,
 *   onStep: (place: number) => void,
 *   onCut: (place: number) => void,
 * }} FilmOptions
 */

export class Film {
  /** What it was last drawn from. */
  #drawn = "";

  /**
   * @param {HTMLElement} root
   * @param {FilmOptions} options
   */
  constructor(root, { document, onStep, onCut }) {
    this.root = root;
    this.document = document;
    this.onStep = onStep;
    this.onCut = onCut;
    this.mayCut = false;
    this.place = 0;
    /** What the page of each step is called; empty until the server has told. @type {string[]} */
    this.titles = [];
    root.addEventListener("click", (event) => {
      const gap = around(event, "[data-cut]");
      const card = around(event, "[data-place]");
      if (gap) this.onCut(Number(gap.dataset.cut));
      else if (card) this.onStep(Number(card.dataset.place));
    });
  }

  /** Draw the parts as they are now, if they are others. @param {{mayCut: boolean, proposed: Map<number, string>}} options proposed: why to cut, by place */
  render({ mayCut, proposed }) {
    const drawn = JSON.stringify([mayCut, [...proposed], this.titles, this.document.parts.map(({ step }) => step)]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.mayCut = mayCut;
    const left = this.root.scrollLeft;
    const current = this.document.partAt(this.place);
    const groups = this.document.parts.map((_, index) => {
      const [first, last] = this.document.range(index);
      const cards = [];
      for (let place = first; place <= last; place += 1) {
        if (place > first) cards.push(this.#gap(place, false, proposed));
        cards.push(this.#card(place, first, last));
      }
      const range = first === last ? `step ${first + 1}` : `steps ${first + 1}–${last + 1}`;
      const head = make("div.part-head", {}, make("b", {}, index + 1), ` ${range}`);
      return make(index === current ? "div.film-part.on" : "div.film-part", {}, head, make("div.cards", {}, ...cards));
    });
    const spaced = groups.flatMap((group, index) =>
      index ? [this.#gap(this.document.range(index)[0], true, proposed), group] : [group],
    );
    this.root.replaceChildren(...spaced);
    this.root.scrollLeft = left;
  }

  /** Mark the step shown, and bring it into view. @param {number} place */
  select(place) {
    this.place = place;
    for (const card of this.root.querySelectorAll("[data-place]")) {
      if (Number(card.dataset.place) === place) card.setAttribute("aria-current", "step");
      else card.removeAttribute("aria-current");
    }
    for (const [index, group] of this.root.querySelectorAll(".film-part").entries())
      group.classList.toggle("on", index === this.document.partAt(place));
    const card = this.root.querySelector("[aria-current]");
    if (!card) return;
    const [box, strip] = [card.getBoundingClientRect(), this.root.getBoundingClientRect()];
    if (box.left < strip.left + 24) this.root.scrollLeft -= strip.left + 96 - box.left;
    if (box.right > strip.right - 24) this.root.scrollLeft += box.right - strip.right + 96;
  }

  /** @param {number} place @param {number} first @param {number} last */
  #card(place, first, last) {
    const step = this.document.steps[place];
    const { operation, name, value } = shownStep(step);
    const isFirst = place > 0 && step.task !== this.document.steps[place - 1].task;
    const card = make(isFirst ? "button.card.task-start" : "button.card", {
      type: "button",
      tabindex: -1,
      "data-place": place,
      title: `Step ${place + 1}: ${step.action_repr}${isFirst ? `\nHere task ${step.task + 1} begins.` : ""}`,
    });
    if (place === this.place) card.setAttribute("aria-current", "step");
    card.append(
      make("span.card-top", {}, make("i", {}, place + 1), make("b", {}, operation)),
      make("span.card-name", {}, name),
      make("span.card-value", {}, value ? `“${value}”` : ""),
      this.#page(place, first, last),
    );
    return card;
  }

  /**
   * The title of the page, once, as wide as the cards of this part that show the page.
   * @param {number} place
   * @param {number} first
   * @param {number} last
   */
  #page(place, first, last) {
    const title = this.titles[place] ?? "";
    if (!title || (place > first && this.titles[place - 1] === title)) return make("span.card-page");
    let end = place;
    while (end < last && this.titles[end + 1] === title) end += 1;
    const named = make("span.card-page", { title: `Page: ${title}` }, title);
    named.style.setProperty("--cards", String(end - place + 1));
    return named;
  }

  /** @param {number} place @param {boolean} isCut @param {Map<number, string>} proposed */
  #gap(place, isCut, proposed) {
    const label = isCut ? `Join the parts before and after step ${place + 1}` : `Cut before step ${place + 1}`;
    const look = `button.cut-place${isCut ? ".cut" : ""}${proposed.has(place) ? ".proposed" : ""}`;
    return make(look, {
      type: "button",
      tabindex: -1,
      "data-cut": place,
      title: proposed.has(place) ? `${label}\nProposed: ${proposed.get(place)}` : label,
      "aria-label": label,
      disabled: !this.mayCut,
    });
  }
}

/**
 * A step in words: what was done, to which element, with which value.
 * @param {import("../shared/elements.js").Action} step
 */
export function shownStep({ operation, value, action_repr: repr }) {
  const { name } = representationParts(repr);
  return { operation: operation || "no action", name, value };
}
