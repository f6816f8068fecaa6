// What a model proposes for the annotation: shown beside it, asked for anew, and waited for where a job makes it.
import { amount, button, confirmed } from "../shared/elements.js";
import { proposalOf } from "./asked.js";

/**
 * @typedef {{phenomenon?: string, start?: number, end?: number}} ComparedMark
 * @typedef {{step: number, why?: string[], instruction?: string, rewrite?: string, mentions?: ComparedMark[]}} ProposedPart
 * @typedef {{id: number, kind: string, model: string, content: {parts: ProposedPart[], left_out?: string[]}}} Proposed
 */

const NAMED = 4; // clauses, or texts, that a question names one by one
const CHARACTERS = 80; // of each
const DIFFERENCES = ["cut", "join", "change"]; // what is done to a part

/** @param {string} id */
function shownAs(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** The first of many texts, in quotes, without the full stop that would stand before that of the sentence.
 * @param {string[]} texts */
export function named(texts) {
  const cut = (/** @type {string} */ text) =>
    text.length > CHARACTERS ? `${text.slice(0, CHARACTERS)}…` : text.replace(/\.$/, "");
  const quoted = texts.slice(0, NAMED).map((text) => `“${cut(text)}”`);
  const more = texts.length - quoted.length;
  return `${quoted.join(", ")}${more ? ` and ${more} more` : ""}`;
}

/** What is marked where, to be compared. @param {ComparedMark[]} mentions */
function marks(mentions) {
  return JSON.stringify(mentions.map(({ phenomenon, start, end }) => [phenomenon, start, end]).sort());
}

export class Proposal {
  /** The one that is shown. @type {Proposed | null} */
  shown = null;
  /** The clauses of the source that somebody has said to leave out. @type {Set<string>} */
  leftOut = new Set();
  /** All that this page knows of. @type {Proposed[]} */
  #known = [];
  isAsking = false;
  #document;
  #saver;

  /** @param {{document: import("./document.js").AnnotationDocument, saver: import("./saving.js").Saver}} options */
  constructor({ document, saver }) {
    this.#document = document;
    this.#saver = saver;
    this.#known = document.proposals ?? [];
    this.shown = this.#known[0] ?? null;
  }

  /** Why to cut, by place. @returns {Map<number, string>} */
  get cuts() {
    const parts = this.shown?.kind === "cuts" ? this.shown.content.parts : [];
    return new Map(parts.map(({ step, why }) => [this.#document.placeOfStep(step), (why ?? []).join("; ")]));
  }

  /** @param {boolean} writable */
  render(writable) {
    const without = (this.shown?.content.left_out ?? []).map((clause) => `“${clause}”`).join(", ");
    const words = this.shown ? `Proposed by ${this.shown.model} · ${this.#comparison}` : "";
    shownAs("left-out").textContent = without ? ` · left out: ${without}` : "";
    shownAs("proposed").textContent = words;
    shownAs("hints").hidden = this.shown !== null;
    button("accept").hidden = !writable || !this.isAcceptable;
    button("propose").disabled = !writable || this.isAsking;
  }

  /** Whether accepting it does anything, and it is the one to come to: while another is asked for, it may not be. */
  get isAcceptable() {
    return this.shown !== null && !this.isAsking && this.#differences.length > 0;
  }

  /** What accepting it would do, in words. */
  get #comparison() {
    const found = this.#differences;
    if (!found.length) return "all parts as proposed";
    const told = DIFFERENCES.map((name) => ({ name, count: found.filter((one) => one === name).length }));
    const counts = told.filter(({ count }) => count).map(({ name, count }) => `${count} to ${name}`);
    return `${amount(found.length, "part")} ${found.length === 1 ? "differs" : "differ"}: ${counts.join(", ")}`;
  }

  /** What accepting it would do to each part of the document, or of the proposal, that is not as it proposes.
   * @returns {string[]} */
  get #differences() {
    if (!this.shown) return [];
    const { kind, content } = this.shown;
    const proposed = new Set(content.parts.map(({ step }) => step));
    const joined = kind === "cuts" ? this.#document.parts.slice(1).filter(({ step }) => !proposed.has(step)) : [];
    const missing = content.parts.filter(({ step }) => kind === "cuts" && !this.#document.part(step));
    const changed = content.parts.filter((part) => this.#document.part(part.step) && !this.#isKept(part));
    return [...missing.map(() => "cut"), ...joined.map(() => "join"), ...changed.map(() => "change")];
  }

  /** Whether it proposes instructions: then parts that it gives none are to have none. */
  get #speaks() {
    return this.shown?.kind === "cuts" && this.shown.content.parts.some((part) => part.instruction);
  }

  /** @param {ProposedPart} part */
  #isKept({ step, instruction, rewrite, mentions }) {
    const part = this.#document.part(step);
    if (!part || (this.#speaks && !instruction && part.instruction)) return false; // it would be cleared
    const isSaid = (!instruction || part.instruction === instruction) && (!rewrite || part.rewrite === rewrite);
    return isSaid && (!mentions?.length || marks(mentions) === marks(part.mentions));
  }

  /** Whether to accept it: asked where it leaves out clauses of the source, or takes the place of what people wrote. */
  async mayAccept() {
    const without = this.shown?.content.left_out ?? [];
    const written = this.#replaced.filter((text) => !this.#isGiven(text));
    if (!without.length && !written.length) return true;
    const said = [
      without.length ? `It leaves out ${amount(without.length, "clause")} of the source: ${named(without)}.` : "",
      written.length ? `It takes the place of ${amount(written.length, "text")} that you have: ${named(written)}.` : "",
    ];
    const sure = await confirmed(`${said.filter(Boolean).join(" ")} Accept it all the same?`, "Accept");
    if (sure) this.leftOut = new Set([...this.leftOut, ...without]);
    return sure;
  }

  /** The texts of parts that would be gone. @returns {string[]} */
  get #replaced() {
    const proposed = new Map((this.shown?.content.parts ?? []).map((part) => [part.step, part]));
    const field = this.shown?.kind === "cuts" ? "instruction" : "rewrite";
    if (field === "instruction" && !this.#speaks) return [];
    return this.#document.parts
      .filter((part) => {
        const wanted = proposed.get(part.step)?.[field] ?? "";
        return part[field].trim() && part[field] !== wanted && (wanted || field === "instruction");
      })
      .map((part) => part[field]);
  }

  /** Whether a text came with the item or of a proposal: nobody has written it. @param {string} text */
  #isGiven(text) {
    const { tasks, parts } = this.#document;
    const isOriginal =
      this.shown?.kind === "cuts"
        ? tasks.some((/** @type {{instruction: string}} */ task) => task.instruction === text)
        : parts.some((part) => part.instruction === text);
    const proposed = this.#known.flatMap(({ content }) => content.parts);
    return isOriginal || proposed.some((part) => part.instruction === text || part.rewrite === text);
  }

  /** Ask for another one, or wait for one that was asked for before. Whether there is a new one now: not where somebody
   * has stopped it. Rejects with why there is none.
   * @param {"rewrite" | "cuts"} kind
   * @param {{by?: "rules", job?: number}} [how] rules: even where the campaign asks a model */
  async ask(kind, { by, job: begun } = {}) {
    this.isAsking = true;
    try {
      const { proposal, job } = begun
        ? { proposal: null, job: begun }
        : await this.#saver.post("propose/", { kind, by });
      const found = proposal ?? (await proposalOf(job, this.#saver));
      if (found) [this.shown, this.#known] = [found, [...this.#known, found]];
      return found !== null;
    } finally {
      this.isAsking = false;
    }
  }
}
