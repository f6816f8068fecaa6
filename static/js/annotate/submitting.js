// How an item leaves the page: submitted, given back, or sent back to who made its cuts.
import { confirmed, dialog, make, the } from "../shared/elements.js";
import { Refused } from "../shared/server.js";
import { named } from "./proposal.js";

/** @typedef {import("./document.js").AnnotationDocument} AnnotationDocument */
/** @typedef {import("./saving.js").Saver} Saver */
/** @typedef {import("./rows.js").Rows} Rows */
/** @typedef {{document: AnnotationDocument, saver: Saver, rows: Rows}} Parts */
/**
 * @typedef {{
 *   queue: string,
 *   isWritable: () => boolean,
 *   render: () => void,
 *   say: (text: string) => void,
 *   decideNext: () => void,
 *   isLeftOut: (clause: string) => boolean,
 * }} Page
 */

/** Codes of warnings that are asked about, not shown alone; the same that the API asks about. */
const ASKED = new Set(["garbled", "invented", "lost", "said-again", "value-lost"]);

export class Submitting {
  /** @param {Parts} parts @param {Page} page */
  constructor({ document, saver, rows }, page) {
    this.document = document;
    this.saver = saver;
    this.rows = rows;
    this.page = page;
  }

  async submit() {
    const { document: doc, saver, page } = this;
    if (!page.isWritable()) return;
    this.rows.flush();
    if (!(await saver.now())) return page.say("Not submitted: there are changes that the server does not have yet");
    if (doc.conflicts.length) return page.decideNext();
    const doubts = this.#doubts();
    if (doubts.length && !(await confirmed(`${doubts.join(" ")} Submit it ${this.#manner}?`, "Submit")))
      return undefined;
    try {
      const { next } = await saver.post("submit/");
      location.assign(next ?? page.queue);
    } catch (error) {
      await this.#explain(error);
    }
    return undefined;
  }

  /** What whoever submits should know first: that nothing was done, clauses that no part asks for, or that are asked for again, and garbled text.
   * @returns {string[]} */
  #doubts() {
    const { document: doc, rows } = this;
    const open = rows.field === "instruction" ? doc.clauses.flat() : []; // in a rewrite the cuts are somebody else's
    const of = (/** @type {string} */ state) => open.filter((clause) => clause.state === state).map(({ text }) => text);
    const uncovered = of("uncovered").filter((text) => !this.page.isLeftOut(text)); // nobody is asked that twice
    const doubled = of("doubled");
    const asked = (doc.warnings ?? []).filter((/** @type {{code: string}} */ { code }) => ASKED.has(code));
    return [
      doc.isUntouched ? "Nothing has been changed here yet." : "",
      uncovered.length ? `No part with its steps asks for ${named(uncovered)}.` : "",
      doubled.length ? `More than once the parts ask for ${named(doubled)}.` : "",
      ...asked.map((/** @type {{text: string}} */ { text }) => text),
    ].filter(Boolean);
  }

  get #manner() {
    return this.document.isUntouched ? "as it came" : "all the same";
  }

  async giveBack() {
    const sure = await confirmed(
      "Give this back? Somebody else may get it; what you have written in it stays with it.",
      "Give back",
    );
    if (!sure) return;
    this.rows.flush();
    await this.saver.now();
    await this.#leave("give-back/");
  }

  /** Send the cuts to who made them, with what is wrong about them. */
  async sendBack() {
    if (!this.page.isWritable()) return;
    this.rows.flush();
    const asked = dialog("sending");
    asked.returnValue = "no";
    asked.showModal();
    await new Promise((resolve) => asked.addEventListener("close", resolve, { once: true }));
    const reason = the(asked, "textarea").value;
    if (asked.returnValue !== "yes" || !(await this.saver.now())) return;
    await this.#leave("send-back/", { reason });
  }

  /** @param {string} where @param {Record<string, string>} body */
  #leave(where, body = {}) {
    return this.saver.post(where, body).then(
      () => location.assign(this.page.queue),
      (error) => this.#explain(error),
    );
  }

  /** @param {Error} error */
  async #explain(error) {
    const { document: doc, rows, page } = this;
    if (!(error instanceof Refused)) return page.say("The server cannot be reached");
    const { problems, code, steps = [] } = error.body;
    if (code === "stale") {
      await this.saver.reload();
      page.render();
    }
    if (!problems) return page.say(error.message);
    const list = the(document, "#problems");
    list.replaceChildren(make("b", {}, "Not submitted yet: "), problems.join(" "));
    list.hidden = false;
    const missing = doc.parts.findIndex((part) => !part[rows.field].trim() || part.step === steps[0]);
    if (missing >= 0) rows.focus(missing);
    return undefined;
  }
}
