// What people ask the team about the step that is shown, whole, and how far each question is answered. Who asked may
// withdraw it until somebody has answered, and has read the answers once the step is shown with them.
import { make } from "../shared/elements.js";
import { call } from "../shared/server.js";

/**
 * `withdraw`, `seen`: where to say so, as far as one may.
 * @typedef {{
 *   seq: number | null,
 *   by: string,
 *   question: string,
 *   own: boolean,
 *   answers: number,
 *   may_withdraw: boolean,
 *   unread: boolean,
 *   withdraw: string,
 *   seen: string,
 * }} Question
 */

export class QuestionList {
  #seq = -1;
  /** @type {Question[]} */
  #questions = [];

  /**
   * @param {HTMLElement} root
   * @param {{say: (text: string, stays?: boolean) => void, onWithdrawn: () => void}} options
   */
  constructor(root, options) {
    this.root = root;
    this.options = options;
  }

  /** @param {Question[]} questions */
  take(questions) {
    this.#questions = questions;
    this.show(this.#seq);
  }

  /** @param {number} seq */
  show(seq) {
    this.#seq = seq;
    const shown = this.#questions.filter((one) => one.seq === seq);
    this.root.replaceChildren(...shown.map((one) => this.#line(one)));
    this.root.hidden = !shown.length;
    for (const one of shown.filter(({ unread }) => unread)) this.#see(one);
  }

  /** @param {Question} one */
  #line(one) {
    const { by, question, own, answers } = one;
    const line = make("p", {}, `${by} asks: “${question}” `);
    if (own) {
      const people = answers === 1 ? "1 person has answered" : `${answers} people have answered`;
      line.append(make("b", {}, answers ? `${people}: what they say is in the review below.` : "No answer yet."));
    }
    if (one.may_withdraw) {
      const button = make("button.btn.small", { type: "button" }, "Withdraw");
      button.addEventListener("click", () => this.#withdraw(one));
      line.append(" ", button);
    }
    return line;
  }

  /** @param {Question} one */
  async #withdraw(one) {
    try {
      await call(one.withdraw, {});
      this.options.say("The question is withdrawn");
    } catch (error) {
      this.options.say(`Not withdrawn: ${error.message}`, true);
    }
    this.options.onWithdrawn();
  }

  /** Said once; where it cannot be, the first page tells of the answers again. @param {Question} one */
  async #see(one) {
    one.unread = false;
    await call(one.seen, {}).catch(() => undefined);
  }
}
