// Asking the team about the step that is shown: a dialog with a question, which comes into a queue of review.
import { the } from "../shared/elements.js";
import { call } from "../shared/server.js";

export class AskDialog {
  #seq = 0;

  /**
   * @param {HTMLDialogElement} root
   * @param {{url: string, say: (text: string, stays?: boolean) => void, onAsked: () => void}} options
   */
  constructor(root, options) {
    this.root = root;
    this.options = options;
    this.words = the(root, "textarea");
    the(root, "form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#ask();
    });
    the(root, "[data-close]").addEventListener("click", () => root.close());
    this.words.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#ask();
    });
  }

  /** @param {number} seq */
  open(seq) {
    this.#seq = seq;
    the(this.root, "h2").textContent = `Ask the team about step ${seq + 1}`;
    the(this.root, "[role=alert]").textContent = "";
    this.root.showModal();
    this.words.focus();
  }

  /** What could not be asked stays in the dialog, which says why. */
  async #ask() {
    try {
      await call(this.options.url, { seq: this.#seq, question: this.words.value });
    } catch (error) {
      the(this.root, "[role=alert]").textContent = `Not asked: ${error.message}`;
      return;
    }
    this.words.value = "";
    this.root.close();
    this.options.say(`The team is asked about step ${this.#seq + 1}`);
    this.options.onAsked();
  }
}
