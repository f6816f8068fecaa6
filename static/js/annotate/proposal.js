// What a model proposes for the annotation: shown beside it, asked for anew, and waited for where a job makes it.
import { button } from "../shared/elements.js";
import { call } from "../shared/server.js";

/**
 * @typedef {{step: number, why?: string[], instruction?: string, rewrite?: string, mentions?: object[]}} ProposedPart
 * @typedef {{id: number, kind: string, model: string, content: {parts: ProposedPart[]}}} Proposed
 */

const POLL_MS = 2000;
const POLLS = 60;

export class Proposal {
  /** The one that is shown. @type {Proposed | null} */
  shown = null;
  #document;
  #saver;
  #url;

  /** @param {{document: import("./document.js").AnnotationDocument, saver: import("./saving.js").Saver, url: string}} options */
  constructor({ document, saver, url }) {
    this.#document = document;
    this.#saver = saver;
    this.#url = url;
    this.shown = document.proposals?.[0] ?? null;
  }

  /** Why to cut, by place. @returns {Map<number, string>} */
  get cuts() {
    const parts = this.shown?.kind === "cuts" ? this.shown.content.parts : [];
    return new Map(parts.map(({ step, why }) => [this.#document.places.get(step), why.join("; ")]));
  }

  /** @param {boolean} writable */
  render(writable) {
    const total = this.shown?.content.parts.length ?? 0;
    const kept = this.shown?.content.parts.filter((part) => this.#isKept(part)).length ?? 0;
    const words = this.shown ? `Proposed by ${this.shown.model} · ${kept} of ${total} as proposed` : "";
    document.getElementById("proposed").textContent = words;
    document.getElementById("hints").hidden = this.shown !== null;
    button("accept").hidden = !this.shown || kept === total;
    button("propose").disabled = !writable;
  }

  /** @param {ProposedPart} part */
  #isKept({ step, instruction, rewrite }) {
    const part = this.#document.part(step);
    return (
      Boolean(part) && (!instruction || part.instruction === instruction) && (!rewrite || part.rewrite === rewrite)
    );
  }

  /** Ask for another one; there is none to show when the model takes too long. @param {"rewrite" | "cuts"} kind */
  async ask(kind) {
    const answer = await this.#saver.post("propose/", { kind });
    this.shown = answer.proposal ?? (await this.#ofJob(this.shown?.id ?? 0));
  }

  /** What a model that runs elsewhere proposes, once it is there; null when it takes too long. @param {number} before */
  async #ofJob(before) {
    for (let asked = 0; asked < POLLS; asked += 1) {
      await new Promise((resolve) => window.setTimeout(resolve, POLL_MS));
      const { proposals } = await call(`${this.#url}document/`);
      if (proposals[0]?.id > before) return proposals[0];
    }
    return null;
  }
}
