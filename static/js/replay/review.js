// What people say of the step that is shown, or of the whole trajectory: a verdict by one key, a reason, a comment. Each
// is kept at once, and what could not be kept stays in the form and says so.
import { make } from "../shared/elements.js";
import { call } from "../shared/server.js";

/** @type {Record<string, string>} */
const KEYS = { agent_wrong: "a", gold_wrong: "d", both_acceptable: "b", page_broken: "x" };

const GOLD_WRONG = "gold_wrong";

/** @typedef {import("./region.js").Region} Region */

/**
 * What the page does with regions.
 * @typedef {{
 *   edit: (region: Region | null) => Promise<Region | null | undefined>,
 *   show: (region: Region, number: number, opens: boolean) => void,
 *   hide: () => unknown,
 * }} Regions
 */

/** What verdicts mean of the whole. @type {Record<string, string>} */
const MEANING = {
  agent_wrong: "The task is not done",
  both_acceptable: "The task is done",
  gold_wrong: "The task is done",
};

/**
 * @typedef {{
 *   seq: number | null,
 *   verdict: string,
 *   reason: number | null,
 *   reason_text: string,
 *   comment: string,
 *   region: Region | null,
 *   by: string,
 *   own: boolean,
 *   unread: number | null,
 * }} Review
 */

/**
 * @typedef {{
 *   may: boolean,
 *   verdicts: {key: string, label: string}[],
 *   reasons: {id: number, verdict: string, text: string}[],
 *   reviews: Review[],
 *   read: string,
 *   alike: string,
 *   failed: Record<string, number>,
 *   questions: import("./questions.js").Question[],
 * }} Answer
 */

/**
 * @typedef {{
 *   url: string,
 *   isWhole: boolean,
 *   say: (text: string, stays?: boolean) => void,
 *   onChange: () => void,
 *   onTurn: () => void,
 *   onGold: (seq: number) => void,
 *   regions: Regions,
 * }} ReviewOptions
 */

export class ReviewBar {
  #buttons = /** @type {HTMLButtonElement[]} */ ([]);
  #verdicts = make("span.verdicts", { role: "group", "aria-label": "Verdict", tabindex: "-1" });
  #about = make("button.btn", { type: "button" }, "Whole ", make("kbd", {}, "w"));
  #reason = make("select", { "aria-label": "Reason" });
  #comment = make("input", { type: "text", "aria-label": "Comment", placeholder: "Comment (v)" });
  #region = make("button.btn", { type: "button", "aria-pressed": "false" }, "Region ", make("kbd", {}, "m"));
  #chips = make("span.chips", { role: "group", "aria-label": "Regions that others mean" });
  #others = make("span.others.clip");
  #alike = make("a.btn", { title: "Ask for reviews of failures like this one" }, "Alike ", make("kbd", {}, "l"));
  /** Comments that wait for a verdict, by what they are about. @type {Map<number | null, string>} */
  #drafts = new Map();
  /** Where it is said what was read. */
  #inbox = "";
  /** The review whose region stays outlined when nothing points at it any more. @type {Review | null} */
  #opened = null;

  /**
   * @param {HTMLElement} root
   * @param {ReviewOptions} options
   */
  constructor(root, options) {
    this.root = root;
    this.#comment.maxLength = Number(root.dataset.longest);
    this.options = options;
    /** @type {number | null} */
    this.seq = null;
    /** Whether it is about the whole trajectory, not about the step that is shown. */
    this.isWhole = options.isWhole;
    /** @type {Review[]} */
    this.reviews = [];
    /** What somebody asks the team. @type {Answer["questions"]} */
    this.questions = [];
    /** @type {Answer["verdicts"]} */
    this.verdicts = [];
    /** @type {Answer["reasons"]} */
    this.reasons = [];
    this.alike = "";
    /** The numbers of the failed steps by their places, where one may ask for failures like them. @type {Answer["failed"]} */
    this.failed = {};
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
      ["v", "Comment beside the verdict", () => this.#tell()],
      ["m", "Region of the page that you mean", () => this.#editRegion()],
      ["w", "Review the step, or the whole trajectory", () => this.#turn()],
      ...(Object.keys(this.failed).length ? [this.#command] : []),
    ];
  }

  /** @returns {[string, string, () => void]} */
  get #command() {
    return ["l", "Ask for reviews of failures like this one", () => this.#askAlike()];
  }

  /** What was said is kept first. */
  async #askAlike() {
    await this.saving;
    if (this.#alike.hidden) this.options.say("Only a failed step has failures like it");
    else location.assign(this.#alike.href);
  }

  /** Those of a step, or (null) of the whole, own first. @param {number | null} seq */
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
  #take({ may, verdicts, reasons, reviews, read, alike, failed, questions }) {
    this.questions = questions;
    const first = !this.isOpen;
    this.verdicts = verdicts;
    this.reasons = reasons;
    this.reviews = reviews;
    this.#inbox = read;
    this.alike = alike;
    this.failed = failed;
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
    this.#comment.addEventListener("change", () => this.#keepComment());
    this.#comment.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !this.#own()) this.#lead();
      else if (event.key === "Enter" || event.key === "Escape") this.#comment.blur();
    });
    this.#about.addEventListener("click", () => this.#turn());
    this.#region.addEventListener("click", () => this.#editRegion());
    for (const control of [this.#comment, this.#region]) this.#point(control, () => this.#own());
    this.#verdicts.append(...this.#buttons);
    const said = [this.#verdicts, this.#reason, this.#comment, this.#region];
    this.root.replaceChildren(make("b", {}, "Review"), this.#about, ...said, this.#chips, this.#others, this.#alike);
  }

  /** From the step that is shown to the whole trajectory, or back. */
  #turn() {
    this.isWhole = !this.isWhole;
    this.#opened = null;
    this.options.regions.hide();
    this.#fill();
    this.options.onTurn();
    this.options.say(this.isWhole ? "Reviewing the whole trajectory" : "Reviewing this step");
  }

  /** What the bar is about: the step that is shown, or null, the whole. */
  get #subject() {
    return this.isWhole ? null : this.seq;
  }

  #fill() {
    if (this.seq === null) return;
    const said = this.of(this.#subject);
    this.#fillOthers(said.filter((one) => !one.own));
    for (const one of said) if (one.unread) this.#read(one);
    this.root.hidden = !this.isOpen && !this.#others.hasChildNodes();
    this.root.ariaLabel = this.isWhole ? "Review of the whole trajectory" : "Review of this step";
    if (!this.isOpen) {
      this.root.replaceChildren(make("b", {}, "Reviews"), this.#chips, this.#others);
      return;
    }
    const own = said.find((one) => one.own);
    const failure = this.failed[this.#subject ?? -1];
    this.#alike.hidden = !failure;
    this.#alike.href = `${this.alike}${failure}`;
    this.#about.setAttribute("aria-pressed", String(this.isWhole));
    this.#about.title = this.isWhole ? "Review the step instead" : "Review the whole trajectory instead of the step";
    for (const button of this.#buttons) {
      button.setAttribute("aria-pressed", String(button.dataset.verdict === own?.verdict));
      button.title = (this.isWhole && MEANING[button.dataset.verdict ?? ""]) || "";
    }
    const fitting = this.reasons.filter((one) => one.verdict === own?.verdict);
    const options = fitting.map(({ id, text }) => make("option", { value: id, selected: id === own?.reason }, text));
    if (own?.reason && !fitting.some((one) => one.id === own.reason))
      options.push(make("option", { value: own.reason, selected: true }, own.reason_text));
    this.#reason.replaceChildren(make("option", { value: "" }, "reason (r)"), ...options);
    this.#reason.disabled = !own;
    this.#region.disabled = !own || this.isWhole;
    this.#region.setAttribute("aria-pressed", String(Boolean(own?.region)));
    if (document.activeElement !== this.#comment)
      this.#comment.value = own?.comment ?? this.#drafts.get(this.#subject) ?? "";
  }

  /** What names whoever looks is read once it stands here. @param {Review} one */
  #read(one) {
    const review = one.unread;
    one.unread = null;
    call(this.#inbox, { review }).catch(() => (one.unread = review));
  }

  /** What others said, each with the number of the region that they mean. @param {Review[]} others */
  #fillOthers(others) {
    const said = others.map((one) => (one.region ? `▭ ${this.#number(one)} ` : "") + words(one));
    this.#others.textContent = this.#others.title = said.join(" · ");
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

  /** A comment is kept with a verdict: without one it waits in its field, and the page says what is missing. */
  #tell() {
    this.#comment.focus();
    if (!this.#own()) this.#askVerdict("Your comment goes with it");
  }

  /** From the comment to the verdict that it lacks; none is chosen by pressing Enter again. */
  #lead() {
    this.#verdicts.focus(); // which keeps the comment as a draft
    const why = this.#comment.value.trim() ? "your comment waits and goes with it" : "a comment goes with it";
    this.#askVerdict(`Not sent, as it has no verdict; ${why}`, true);
  }

  /** @param {string} why @param {boolean} [stays] */
  #askVerdict(why, stays) {
    const named = this.verdicts.map(({ key, label }) => `${KEYS[key]} ${label}`).join(", ");
    this.options.say(`Choose a verdict first: ${named}. ${why}`, stays);
  }

  #keepComment() {
    if (this.#own()) {
      this.#save({ comment: this.#comment.value });
      return;
    }
    this.#drafts.set(this.#subject, this.#comment.value);
    if (this.#comment.value.trim()) this.#askVerdict("Your comment waits and goes with it");
  }

  async #editRegion() {
    if (this.isWhole) {
      this.options.say("A region is of the page of one step, not of the whole trajectory");
      return;
    }
    const own = this.#own();
    if (!own) {
      this.options.say("Say who was wrong first: the region belongs to what you say");
      return;
    }
    const seq = this.seq;
    try {
      const region = await this.options.regions.edit(own.region);
      if (region === undefined || seq !== this.seq || this.isWhole) return;
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
    const comment = own?.comment ?? this.#drafts.get(this.#subject) ?? "";
    this.#save(own?.verdict === key ? { verdict: "" } : { verdict: key, reason: null, comment });
  }

  #own() {
    return this.of(this.#subject).find((one) => one.own);
  }

  /** One request after the other, so that the last word is the last one kept. @param {Partial<Review>} change */
  #save(change) {
    const seq = this.#subject;
    const name = seq === null ? "Whole trajectory" : `Step ${seq + 1}`;
    this.saving = this.saving.then(async () => {
      const own = this.reviews.find((one) => one.own && one.seq === seq);
      const { verdict = "", reason = null, comment = "", region = null } = { ...own, ...change };
      try {
        const answer = await call(this.options.url, { seq, verdict, reason, comment, region });
        this.#drafts.delete(seq);
        this.#take(answer);
        if (seq !== null && (own?.verdict === GOLD_WRONG) !== (verdict === GOLD_WRONG)) this.options.onGold(seq);
        const told = "region" in change ? (region ? "region kept" : "no region any more") : this.#label(verdict);
        this.options.say(`${name}: ${verdict ? told : "taken back"}`);
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
