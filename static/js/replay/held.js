// The action of a live episode that waits for a person: why it is held, how long, and one key for each decision.
// The database is the truth: of several people one decides, and the others are told who did.
import { make } from "../shared/elements.js";
import { call } from "../shared/server.js";
import { OPERATIONS } from "./window.js";

/**
 * @typedef {{
 *   id: number,
 *   seq: number,
 *   words: string,
 *   why: string,
 *   by: string,
 *   sure: number | null,
 *   until: string,
 *   is_late: boolean,
 *   representation: string,
 *   operation: string,
 *   node_id: string,
 *   value: string,
 * }} Held
 */

/** Said of an action on which nobody decided in time: it stays held while its worker is away. */
export const LATE = "Nobody decided in time: the episode ends as soon as its worker comes back to it.";

/** Whether the time to decide is over, by the server or since it was asked. @param {Held} held */
export function isLate(held) {
  return held.is_late || Date.parse(held.until) <= Date.now();
}

export class HeldBar {
  /**
   * @param {HTMLElement} root
   * @param {{
   *   may: boolean,
   *   url: string,
   *   say: (text: string) => void,
   *   onDecided: () => void,
   *   onHeld: () => void,
   * }} options
   */
  constructor(root, options) {
    this.root = root;
    this.options = options;
    /** @type {Held | null} */
    this.held = null;
    this.isOver = false; // the time to decide
    window.setInterval(() => this.#left(), 1000);
  }

  /** The commands of the bar: [key, words, what it does]. @returns {[string, string, () => void][]} */
  get commands() {
    return [
      ["y", "Approve the held action", () => this.#decide("approved")],
      ["e", "Change the held action", () => this.#change()],
      ["Delete", "Refuse the held action", () => this.#decide("refused")],
    ];
  }

  /** @param {Held | null | undefined} held */
  show(held) {
    if (held?.id === this.held?.id && !(held?.is_late && !this.isOver)) return;
    this.held = held ?? null;
    this.isOver = this.held !== null && isLate(this.held);
    this.root.hidden = !this.held;
    this.root.replaceChildren();
    this.options.onHeld();
    if (!this.held) return;
    const { words, representation, why, sure } = this.held;
    this.left = make("span.tag.warn", {}, this.isOver ? "time is over" : "held");
    const said = make(
      "div.said",
      {},
      make("b.bad", {}, `Held: ${words}`),
      make("span", {}, ` ${representation} `),
      make("div.muted", {}, sure === null ? why : `${why} (sure ${sure.toFixed(2)})`),
      this.isOver ? make("div", {}, LATE) : null,
    );
    this.root.append(said, this.left);
    if (!this.options.may || this.isOver) return;
    this.reason = make("input", { type: "text", maxlength: 500, "aria-label": "Reason", placeholder: "Reason" });
    this.root.append(
      this.reason,
      this.#button("refused", "Refuse", "Del"),
      this.#button("change", "Change", "e"),
      this.#button("approved", "Approve", "y"),
    );
    this.#left();
  }

  /** @param {string} what @param {string} words @param {string} key */
  #button(what, words, key) {
    const look = what === "approved" ? "button.btn.primary" : "button.btn";
    const made = make(look, { type: "button", "data-decide": what }, `${words} `, make("kbd", {}, key));
    made.addEventListener("click", () => (what === "change" ? this.#change() : this.#decide(what)));
    return made;
  }

  #left() {
    if (!this.held || !this.left || this.isOver) return;
    if (isLate(this.held)) return this.show({ ...this.held, is_late: true });
    const seconds = Math.max(0, Math.round((Date.parse(this.held.until) - Date.now()) / 1000));
    const minutes = Math.floor(seconds / 60);
    this.left.textContent = `held · ${minutes}:${String(seconds % 60).padStart(2, "0")} left`;
  }

  /** Name the element of the action that is done instead, where somebody is choosing it. @param {string} node */
  pick(node) {
    if (!this.element?.isConnected) return;
    this.element.value = node;
    this.element.focus();
  }

  /** Fields for the action that is done instead, filled with the one that is held. */
  #change() {
    if (!this.held || !this.options.may || this.isOver || this.root.querySelector("form")) return;
    const { operation: held, node_id: node, value: typed } = this.held;
    const operation = make(
      "select",
      {},
      ...OPERATIONS.map((name) => make("option", name === held ? { selected: true } : {}, name)),
    );
    const element = make("input", { type: "text", value: node, size: 8 });
    const value = make("input.value", { type: "text", value: typed });
    const form = make(
      "form",
      {},
      make("label", {}, "Operation ", operation),
      make("label", {}, "Element ", element),
      make("label.wide", {}, "Value ", value),
      make("button.btn.primary", {}, "Do this instead"),
      make("span.muted", {}, "A click on the page names the element."),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [node_id, said] = [element.value.trim(), value.value.trim()];
      this.#decide("changed", { operation: operation.value, node_id, value: said });
    });
    this.root.append(form);
    this.element = element;
    element.focus();
  }

  /** @param {string} state @param {Record<string, string>} [instead] */
  async #decide(state, instead) {
    if (!this.held || !this.options.may || this.isOver) return;
    const url = `${this.options.url}${this.held.id}/`;
    try {
      const answer = await call(url, { state, reason: this.reason?.value ?? "", ...(instead ? { instead } : {}) });
      this.options.say(answer.outcome);
    } catch (error) {
      this.options.say(error.message);
    }
    this.options.onDecided();
  }
}
