// What people say of the step that is shown: a verdict by one key, a reason, a comment. Each is kept at once, and what
// could not be kept stays in the form and says so.
import { make } from "../shared/elements.js";
import { call } from "../shared/server.js";

/** @type {Record<string, string>} */
const KEYS = { agent_wrong: "a", gold_wrong: "d", both_acceptable: "b", page_broken: "x" };

/** @typedef {import("./region.js").Region} Region */

/** What the page does with regions. @typedef {{edit: (region: Region | null) => Promise<Region | null | undefined>, show: (region: Region, number: number, opens: boolean) => void, hide: () => unknown}} Regions */

/** @typedef {{seq: number | null, verdict: string, reason: number | null, reason_text: string, comment: string, region: Region | null, by: string, own: boolean}} Review */

/** @typedef {{may: boolean, verdicts: {key: string, label: string}[], reasons: {id: number, verdict: string, text: string}[], reviews: Review[]}} Answer */

export class ReviewBar {
  #buttons = /** @type {HTMLButtonElement[]} */ ([]);
  #reason = make("select", { "aria-label": "Reason" });
  #comment = make("input", { type: "text", "aria-label": "Comment", placeholder: "Comment (v)" });
  #region = make("button.btn", { type: "button", "aria-pressed": "false" }, "Region ", make("kbd", {}, "m"));
  #chips = make("span.chips", { role: "group", "aria-label": "Regions that others mean" });
  #others = make("span.others.clip");
  /** The review whose region stays outlined when nothing points at it any more. @type {Review | null} */
  #opened = null;

  /**
   * @param {HTMLElement} root
   * @param {{url: string, say: (text: string, stays?: boolean) => void, onChange: () => void, regions: Regions}} options
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
      ["m", "Region of the page that you mean", () => this.#editRegion()],
    ];
  }

  /** Those of a step, own first. @param {number} seq */
  of(seq) {
    return this.reviews.filter((one) => one.seq === seq).toSorted((one, other) => Number(other.own) - Number(one.own));
  }

  /** @param {number} seq */
  show(seq) {
    this.seq = seq;
    this.#opened = null;
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
    this.#region.addEventListener("click", () => this.#editRegion());
    for (const control of [this.#comment, this.#region]) this.#point(control, () => this.#own());
    const verdicts = make("span.verdicts", { role: "group", "aria-label": "Verdict" }, ...this.#buttons);
    const said = [verdicts, this.#reason, this.#comment, this.#region];
    this.root.replaceChildren(make("b", {}, "Review"), ...said, this.#chips, this.#others);
  }

  #fill() {
    if (this.seq === null) return;
    const said = this.of(this.seq);
    this.#fillOthers(said.filter((one) => !one.own));
    this.root.hidden = !this.isOpen && !this.#others.hasChildNodes();
    if (!this.isOpen) {
      this.root.replaceChildren(make("b", {}, "Reviews"), this.#chips, this.#others);
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
    this.#comment.disabled = this.#region.disabled = !own;
    this.#region.setAttribute("aria-pressed", String(Boolean(own?.region)));
    if (document.activeElement !== this.#comment) this.#comment.value = own?.comment ?? "";
  }

  /** What others said, each with the number of the region that they mean. @param {Review[]} others */
  #fillOthers(others) {
    const said = others.map((one) => (one.region ? `▭ ${this.#number(one)} ` : "") + words(one)).join(" · ");
    this.#others.textContent = this.#others.title = said;
    this.#chips.replaceChildren(...others.filter(({ region }) => region).map((one) => this.#chip(one)));
    this.#chips.hidden = !this.#chips.hasChildNodes();
  }

  /** @param {Review} one */
  #chip(one) {
    const number = this.#number(one);
    const { x, y, width, height } = /** @type {Region} */ (one.region);
    const title = `Show region ${number}, which ${one.by} means: ${width} × ${height} at ${x}, ${y}`;
    const chip = make("button.plain.tag.region", { type: "button", title, "aria-label": title }, `▭ ${number}`);
    this.#point(chip, () => one);
    chip.addEventListener("click", () => {
      this.#opened = one;
      this.#show(one, true);
    });
    return chip;
  }

  /** Outlined while the mouse or the keyboard is on a control. @param {HTMLElement} control @param {() => Review | undefined} of */
  #point(control, of) {
    for (const name of ["pointerenter", "focus"]) control.addEventListener(name, () => this.#show(of(), false));
    for (const name of ["pointerleave", "blur"])
      control.addEventListener(name, () => {
        this.options.regions.hide();
        if (this.#opened) this.#show(this.#opened, false);
      });
  }

  /** Regions are counted in the order in which the reviews are listed. @param {Review} one */
  #number(one) {
    const named = this.of(one.seq ?? -1).filter(({ region }) => region);
    return named.findIndex(({ by }) => by === one.by) + 1;
  }

  /** @param {Review | undefined} one @param {boolean} opens */
  #show(one, opens) {
    if (one?.region) this.options.regions.show(one.region, this.#number(one), opens);
  }

  async #editRegion() {
    const own = this.#own();
    if (!own) {
      this.options.say("Say who was wrong first: the region belongs to what you say");
      return;
    }
    const seq = this.seq;
    try {
      const region = await this.options.regions.edit(own.region);
      if (region === undefined || seq !== this.seq) return;
      await this.#save({ region });
      const kept = this.#own();
      if (!kept?.region || seq !== this.seq) return;
      this.#opened = kept;
      this.#show(kept, true);
    } catch (error) {
      this.options.say(`${error.message}.`, true);
    }
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
      const { verdict = "", reason = null, comment = "", region = null } = { ...own, ...change };
      try {
        this.#take(await call(this.options.url, { seq, verdict, reason, comment, region }));
        const told = "region" in change ? (region ? "region kept" : "no region any more") : this.#label(verdict);
        this.options.say(`Step ${seq + 1}: ${verdict ? told : "taken back"}`);
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
