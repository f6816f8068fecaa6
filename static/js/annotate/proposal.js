// What a model proposes for the annotation: shown beside it, asked for anew, and waited for where a job makes it.
import { button } from "../shared/elements.js";

/**
 * @typedef {{step: number, why?: string[], instruction?: string, rewrite?: string, mentions?: object[]}} ProposedPart
 * @typedef {{id: number, kind: string, model: string, content: {parts: ProposedPart[], left_out?: string[]}}} Proposed
 */

const SOON_MS = 300; // most failures are known by then
const POLL_MS = 2000;
const POLLS = 60;

/** @param {string} id */
function shownAs(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

export class Proposal {
  /** The one that is shown. @type {Proposed | null} */
  shown = null;
  #document;
  #saver;

  /** @param {{document: import("./document.js").AnnotationDocument, saver: import("./saving.js").Saver}} options */
  constructor({ document, saver }) {
    this.#document = document;
    this.#saver = saver;
    this.shown = document.proposals?.[0] ?? null;
  }

  /** Why to cut, by place. @returns {Map<number, string>} */
  get cuts() {
    const parts = this.shown?.kind === "cuts" ? this.shown.content.parts : [];
    return new Map(parts.map(({ step, why }) => [this.#document.placeOfStep(step), (why ?? []).join("; ")]));
  }

  /** @param {boolean} writable */
  render(writable) {
    const total = this.shown?.content.parts.length ?? 0;
    const kept = this.shown?.content.parts.filter((part) => this.#isKept(part)).length ?? 0;
    const without = (this.shown?.content.left_out ?? []).map((clause) => `“${clause}”`).join(", ");
    const words = this.shown ? `Proposed by ${this.shown.model} · ${kept} of ${total} parts as proposed` : "";
    shownAs("left-out").textContent = without ? ` · left out: ${without}` : "";
    shownAs("proposed").textContent = words;
    shownAs("hints").hidden = this.shown !== null;
    button("accept").hidden = !this.shown || kept === total;
    button("propose").disabled = !writable;
  }

  /** Whether it proposes instructions: then parts that it gives none are to have none. */
  get #speaks() {
    return this.shown?.kind === "cuts" && this.shown.content.parts.some((part) => part.instruction);
  }

  /** @param {ProposedPart} part */
  #isKept({ step, instruction, rewrite }) {
    const part = this.#document.part(step);
    if (part && this.#speaks && !instruction && part.instruction) return false; // it would be cleared
    if (!part) return false;
    return (!instruction || part.instruction === instruction) && (!rewrite || part.rewrite === rewrite);
  }

  /** Ask for another one; there is none to show when the model takes too long. Rejects with why there is none.
   * @param {"rewrite" | "cuts"} kind */
  async ask(kind) {
    const { proposal, job } = await this.#saver.post("propose/", { kind });
    this.shown = proposal ?? (await this.#ofJob(job));
  }

  /** What a model that runs elsewhere proposes, once it is there; null when it takes too long. @param {number} job */
  async #ofJob(job) {
    for (let asked = 0; asked < POLLS; asked += 1) {
      await new Promise((resolve) => window.setTimeout(resolve, asked < 2 ? SOON_MS : POLL_MS));
      const { proposal, error } = await this.#saver.post("propose/", { job });
      if (error) throw new Error(`No proposal: ${error}`);
      if (proposal) return proposal;
    }
    return null;
  }
}
