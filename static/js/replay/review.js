// What people say of the step that is shown: a verdict by one key, a reason, a comment. Each is kept at once, and what
// could not be kept stays in the form and says so.
import { make } from "../shared/elements.js";
import { call } from "../shared/server.js";

/** @type {Record<string, string>} */
const KEYS = { agent_wrong: "a", gold_wrong: "d", both_acceptable: "b", page_broken: "x" };

/** @typedef {{seq: number | null, verdict: string, reason: number | null, reason_text: string, comment: string, by: string, own: boolean}} Review */

/** @typedef {{may: boolean, verdicts: {key: string, label: string}[], reasons: {id: number, verdict: string, text: string}[], reviews: Review[]}} Answer */

export class ReviewBar {
  #buttons = /** @type {HTMLButtonElement[]} */ ([]);
  #reason = make("select", { "aria-label": "Reason" });
  #comment = make("input", { type: "text", "aria-label": "Comment", placeholder: "Comment (v)" });
  #others = make("span.others.clip");

  /**
   * @param {HTMLElement} root
   * @param {{url: string, say: (text: string, stays?: boolean) => void, onChange: () => void}} options
   */
  constructor(root, options) {
    this.root = root;
    this.#comment.maxLength = Number(root.dataset.longest);
    this.options = options;
    /** @type {number | null} */
    this.seq = null;
    /** @type {Review[]} */
    this.reviews = [];
    /** @type {Answer["verdicts"]} */
    this.verdicts = [];
    /** @type {Answer["reasons"]} */
    this.reasons = [];
    this.isOpen = false;
    /** @type {Promise<unknown>} */
    this.saving = Promise.resolve();
  }

  async load() {
    try {
      this.#take(await call(this.options.url));
    } catch (error) {
      this.root.replaceChildren(make("p.note.bad", {}, `Reviews cannot be read: ${error.message}.`));
    }
  }

  /** The commands of the bar: [key, words, what it does]. @returns {[string, string, () => void][]} */
  get commands() {
    if (!this.isOpen) return [];
    return [
      ...this.verdicts.map(
        ({ key, label }) =>
          /** @type {[string, string, () => void]} */ ([KEYS[key], `Verdict: ${label}`, () => this.#choose(key)]),
      ),
      ["r", "Reason of the verdict", () => this.#reason.focus()],
      ["v", "Comment on the step", () => this.#comment.focus()],
    ];
  }

  /** Those of a step, own first. @param {number} seq */
  of(seq) {
    return this.reviews.filter((one) => one.seq === seq).toSorted((one, other) => Number(other.own) - Number(one.own));
  }

  /** @param {number} seq */
  show(seq) {
    this.seq = seq;
    this.#fill();
  }

  /** @param {Answer} answer */
  #take({ may, verdicts, reasons, reviews }) {
    const first = !this.isOpen;
    this.verdicts = verdicts;
    this.reasons = reasons;
    this.reviews = reviews;
    this.isOpen = may;
    if (first && may) this.#build();
    this.#fill();
    this.options.onChange();
  }

  #build() {
    this.#buttons = this.verdicts.map(({ key, label }) => {
      const button = make(
        "button.btn",
        { type: "button", "aria-pressed": "false", "data-verdict": key },
        `${label[0].toUpperCase()}${label.slice(1)} `,
        make("kbd", {}, KEYS[key]),
      );
      button.addEventListener("click", () => this.#choose(key));
      return button;
    });
    this.#reason.addEventListener("change", () => this.#save({ reason: Number(this.#reason.value) || null }));
    this.#comment.addEventListener("change", () => this.#save({ comment: this.#comment.value }));
    this.#comment.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") this.#comment.blur();
    });
    const verdicts = make("span.verdicts", { role: "group", "aria-label": "Verdict" }, ...this.#buttons);
    this.root.replaceChildren(make("b", {}, "Review"), verdicts, this.#reason, this.#comment, this.#others);
  }

  #fill() {
    if (this.seq === null) return;
    const said = this.of(this.seq);
    const others = said
      .filter((one) => !one.own)
      .map(words)
      .join(" · ");
    this.root.hidden = !this.isOpen && !others;
    if (!this.isOpen) {
      this.root.replaceChildren(make("b", {}, "Reviews"), make("span.clip", { title: others }, others));
      return;
    }
    const own = said.find((one) => one.own);
    for (const button of this.#buttons)
      button.setAttribute("aria-pressed", String(button.dataset.verdict === own?.verdict));
    const fitting = this.reasons.filter((one) => one.verdict === own?.verdict);
    const options = fitting.map(({ id, text }) => make("option", { value: id, selected: id === own?.reason }, text));
    if (own?.reason && !fitting.some((one) => one.id === own.reason))
      options.push(make("option", { value: own.reason, selected: true }, own.reason_text));
    this.#reason.replaceChildren(make("option", { value: "" }, "reason (r)"), ...options);
    this.#reason.disabled = !own;
    this.#comment.disabled = !own;
    if (document.activeElement !== this.#comment) this.#comment.value = own?.comment ?? "";
    this.#others.textContent = others;
    this.#others.title = others;
  }

  /** The same verdict again takes it back. @param {string} key */
  #choose(key) {
    const own = this.#own();
    this.#save(own?.verdict === key ? { verdict: "" } : { verdict: key, reason: null });
  }

  #own() {
    return this.of(this.seq ?? -1).find((one) => one.own);
  }

  /** One request after the other, so that the last word is the last one kept. @param {Partial<Review>} change */
  #save(change) {
    const seq = this.seq ?? 0;
    this.saving = this.saving.then(async () => {
      const own = this.reviews.find((one) => one.own && one.seq === seq);
      const { verdict = "", reason = null, comment = "" } = { ...own, ...change };
      try {
        this.#take(await call(this.options.url, { seq, verdict, reason, comment }));
        this.options.say(verdict ? `Step ${seq + 1}: ${this.#label(verdict)}` : `Step ${seq + 1}: taken back`);
      } catch (error) {
        this.options.say(`Not kept: ${error.message}`, true);
        this.#fill();
      }
    });
    return this.saving;
  }

  /** @param {string} key */
  #label(key) {
    return this.verdicts.find((one) => one.key === key)?.label ?? key;
  }
}

/** "ann: gold wrong (wrong element recorded), “see the other button”" @param {Review} one */
function words({ by, verdict, reason_text: reason, comment }) {
  const parts = [
    `${by}: ${verdict.replaceAll("_", " ")}`,
    reason ? ` (${reason})` : "",
    comment ? `, “${comment}”` : "",
  ];
  return parts.join("");
}
