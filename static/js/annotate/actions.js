// What can be done to an annotation: each makes edits and hands them to the saver.
import { newEdit } from "./document.js";

const FIELDS = /** @type {const} */ (["instruction", "rewrite"]);

/** @typedef {import("./document.js").MarkedMention} MarkedMention */

export class Actions {
  /** @param {import("./document.js").AnnotationDocument} document @param {import("./saving.js").Saver} saver */
  constructor(document, saver) {
    this.document = document;
    this.saver = saver;
  }

  /**
   * A text as it was typed: `before` is what stood there when the typing began.
   * @param {number} step
   * @param {string} field
   * @param {string} before
   * @param {string} after
   */
  write(step, field, before, after) {
    return this.saver.add(newEdit("text", step, { field, before, after }), { typing: true });
  }

  /** Cut before a step (by its place), or join where there is a cut already. Returns what was done; "" for nothing. @param {number} place */
  toggleCut(place) {
    const { id } = this.document.steps[place];
    if (place === 0) return "";
    if (!this.document.part(id)) {
      this.saver.add(this.document.cutEdit(id));
      return "cut";
    }
    this.join(id);
    return "joined";
  }

  /** Join a part with the one before, which gets its texts as well: what was written is not dropped. @param {number} step @param {number | null} proposal */
  join(step, proposal = null) {
    const { parts } = this.document;
    const index = parts.findIndex((part) => part.step === step);
    const [before, joined] = [parts[index - 1], parts[index]];
    for (const field of FIELDS) {
      if (!joined[field].trim()) continue;
      const text = before[field].trim() ? `${before[field].trimEnd()} ${joined[field].trimStart()}` : joined[field];
      this.saver.add(this.document.textEdit(before.step, field, text, proposal));
    }
    this.saver.add(this.document.joinEdit(step, proposal));
  }

  /** @param {number} step @param {MarkedMention} mention */
  mark(step, mention) {
    this.saver.add(this.document.mentionsEdit(step, [...this.document.existing(step).mentions, mention]));
  }

  /** @param {number} step @param {Pick<MarkedMention, "id">} mention */
  unmark(step, mention) {
    const left = this.document.existing(step).mentions.filter(({ id }) => id !== mention.id);
    this.saver.add(this.document.mentionsEdit(step, left));
  }

  /** Make the document as a proposal has it; what it says nothing about stays. @param {import("./proposal.js").Proposed} proposal */
  accept({ id, kind, content }) {
    const wanted = new Map(content.parts.map((part) => [part.step, part]));
    // Words of the source that another part has now must not stay in one that the proposal gives none.
    const speaks = kind === "cuts" && content.parts.some((part) => part.instruction);
    if (kind === "cuts") {
      const first = this.document.steps[0].id;
      for (const step of wanted.keys())
        if (!this.document.part(step)) this.saver.add(this.document.cutEdit(step, {}, id));
      for (const { step } of this.document.parts) if (!wanted.has(step) && step !== first) this.join(step, id);
    }
    for (const [step, part] of wanted) {
      if (!this.document.part(step)) continue; // it was joined away since
      for (const field of FIELDS)
        if (part[field] || (speaks && field === "instruction"))
          this.saver.add(this.document.textEdit(step, field, part[field] ?? "", id));
      if (part.mentions?.length) this.saver.add(this.document.mentionsEdit(step, part.mentions, id));
    }
  }
}
