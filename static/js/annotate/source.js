// The recorded instructions: whose steps are shown, and which of their clauses no part asks for, or that are asked for more than once.
import { amount, make } from "../shared/elements.js";
import { length, slice } from "./document.js";

const STATES = ["uncovered", "doubled"];

export class Source {
  #root;
  #document;
  #onStep;
  #drawn = ""; // from what it was last drawn

  /** @param {HTMLElement} root @param {import("./document.js").AnnotationDocument} document @param {(place: number) => void} onStep */
  constructor(root, document, onStep) {
    this.#root = root;
    this.#document = document;
    this.#onStep = onStep;
  }

  /** The instruction that the step at this place was done for stands out. @param {number} place */
  render(place) {
    const { tasks, steps } = this.#document;
    const current = steps[place].task;
    const said = tasks.length > 1 ? `task ${current + 1} of ${tasks.length}` : "";
    const drawn = JSON.stringify([current, this.#document.clauses, this.#document.parts.map(({ step }) => step)]);
    if (drawn === this.#drawn) return said;
    this.#drawn = drawn;
    const lines = tasks.map((/** @type {any} */ task, /** @type {number} */ index) => {
      const first = this.#document.placeOfStep(task.first_step);
      const next = tasks[index + 1];
      const last = (next ? this.#document.placeOfStep(next.first_step) : steps.length) - 1;
      const line = make(
        "button.plain.task",
        { type: "button", tabindex: -1, "aria-current": index === current ? "true" : null },
        make("span.faint", {}, first === last ? `${first + 1}` : `${first + 1}–${last + 1}`),
        make("span", {}, ...this.#pieces(task.instruction, this.#document.clauses[index] ?? [])),
      );
      line.addEventListener("click", () => this.#onStep(first));
      return line;
    });
    this.#root.replaceChildren(...lines);
    return said;
  }

  /** How many clauses are not asked for exactly once, in words: "1 clause uncovered". @returns {string[]} */
  get faults() {
    const clauses = this.#document.clauses.flat();
    return STATES.map((state) => ({ state, count: clauses.filter((clause) => clause.state === state).length }))
      .filter(({ count }) => count)
      .map(({ state, count }) => `${amount(count, "clause")} ${state}`);
  }

  /** @param {string} text @param {import("./document.js").Clause[]} clauses */
  #pieces(text, clauses) {
    const pieces = [];
    let reached = 0;
    for (const { start, end, state, parts } of clauses.filter((clause) => clause.state)) {
      const numbers = parts.map((step) => this.#document.partAt(this.#document.placeOfStep(step)) + 1);
      const several = [...new Set(numbers)];
      const where = several.length > 1 ? `in parts ${several.join(" and ")}` : `twice in part ${several[0]}`;
      const title = state === "doubled" ? `Asked for ${where}` : "No part with its steps asks for this";
      pieces.push(slice(text, reached, start), make(`mark.clause.${state}`, { title }, slice(text, start, end)));
      reached = end;
    }
    return [...pieces, slice(text, reached, length(text))];
  }
}
