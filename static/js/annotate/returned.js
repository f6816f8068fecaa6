// Why work was returned: its places, and the answers of who would leave one as it is. The answers are comments.
import { make } from "../shared/elements.js";

export class Returned {
  /** @param {HTMLElement} root @param {(step: number) => void} goToStep */
  constructor(root, goToStep) {
    this.root = root;
    for (const button of root.querySelectorAll("[data-to-step]"))
      button.addEventListener("click", () => goToStep(Number(button.dataset.toStep)));
    for (const button of root.querySelectorAll("[data-answer]"))
      button.addEventListener("click", () => this.#answer(button));
    document.addEventListener("annotate:comments", ({ detail }) => this.#show(detail));
  }

  get #buttons() {
    return [...this.root.querySelectorAll("[data-answer]")];
  }

  get canAnswer() {
    return this.#buttons.length > 0;
  }

  /** Answer the first of what was found that has no answer yet. */
  answerNext() {
    const open = this.#buttons.find((button) => !this.#answersOf(button.dataset.answer).childElementCount);
    const button = open ?? this.#buttons[0];
    if (button) this.#answer(button);
  }

  /** @param {HTMLElement} button */
  #answer(button) {
    const detail = { defect: Number(button.dataset.answer), name: button.dataset.answerName ?? "" };
    document.dispatchEvent(new CustomEvent("annotate:answer", { detail }));
  }

  /** @param {string | undefined} defect */
  #answersOf(defect) {
    return /** @type {HTMLElement} */ (this.root.querySelector(`[data-answers="${defect}"]`));
  }

  /** @param {DocumentEventMap["annotate:comments"]["detail"]} comments */
  #show(comments) {
    for (const { dataset } of this.#buttons) {
      const said = comments.filter((one) => one.defect === Number(dataset.answer) && !one.deleted);
      const lines = said.map((one) => make("p.answers", {}, make("b", {}, one.author), ` answers: ${one.text}`));
      this.#answersOf(dataset.answer).replaceChildren(...lines);
    }
  }
}
