// The state of saving and of the connection, in words: the line in the header, and the bar below it when it matters.
import { amount, make } from "../shared/elements.js";

/** @type {Record<string, string>} */
const CLOSED = {
  submitted: "It has been submitted: it can no longer be changed.",
  gone: "It is no longer yours to change.",
};
const WRONG = ["offline", "signed_out", "lost", "failing"];

/**
 * @typedef {{
 *   saved: HTMLElement,
 *   notice: HTMLElement,
 *   document: import("./document.js").AnnotationDocument,
 *   saver: import("./saving.js").Saver,
 *   journal: import("./journal.js").Journal,
 *   login: string,
 *   onTake: () => void,
 *   onRetry: () => void,
 * }} StatusParts
 */

export class StatusLine {
  /**
   * @param {StatusParts} options
   */
  constructor(options) {
    this.saved = options.saved;
    this.notice = options.notice;
    this.document = options.document;
    this.saver = options.saver;
    this.journal = options.journal;
    this.login = options.login;
    this.onTake = options.onTake;
    this.onRetry = options.onRetry;
  }

  /** @param {import("./saving.js").Status} status */
  show({ kind, at, holder, why }) {
    const text = this.#text(kind, at, why, holder);
    if (this.saved.textContent !== text) this.saved.textContent = text; // or it would be read out again
    this.saved.classList.toggle("wrong", WRONG.includes(kind) || this.document.conflicts.length > 0);
    this.saved.classList.toggle("busy", kind === "waiting" || kind === "saving");
    this.#bar(this.#explained(kind, holder, why));
  }

  /**
   * @param {import("./saving.js").Kind} kind
   * @param {string | null | undefined} at
   * @param {string | undefined} why
   * @param {string | null | undefined} holder
   */
  #text(kind, at, why, holder) {
    const version = `v${this.document.version}`;
    const kept = this.#kept();
    const open = this.document.conflicts.length;
    if (open && (kind === "saved" || kind === "saving" || kind === "waiting"))
      return `Not saved: ${amount(open, "place")} to decide · ${version}`;
    if (kind === "saved") return `Saved${at ? ` ${new Date(at).toLocaleTimeString("en-GB")}` : ""} · ${version}`;
    if (kind === "waiting" || kind === "saving") return `Saving … · ${version}`;
    if (kind === "offline") return kept ? `Offline: ${kept}` : "Offline";
    if (kind === "signed_out") return kept ? `Signed out: ${kept}` : "Signed out";
    if (kind === "lost") return `${holder ? `Held by ${holder}` : "Nobody holds this"}${kept ? `: ${kept}` : ""}`;
    if (kind === "failing") return `Not saved (${why})${kept ? `: ${kept}` : ""}`;
    if (kind === "closed") return kept ? `Read only: ${kept}` : `Read only · ${version}`;
    return "Loading …";
  }

  #kept() {
    const count = this.saver.unsent;
    if (!count) return "";
    return `${amount(count, "change")} kept ${this.journal.isLasting ? "here" : "in this tab only"}`;
  }

  /**
   * [text, ...buttons and links], or null where there is nothing to do.
   * @param {import("./saving.js").Kind} kind
   * @param {string | null | undefined} holder
   * @param {string | undefined} why
   * @returns {(string | Node)[] | null}
   */
  #explained(kind, holder, why) {
    if (kind === "signed_out") {
      const link = make("a.link", { href: this.login, target: "_blank", rel: "noopener" }, "Sign in in a new tab");
      return ["Your session has ended. ", link, "; what you wrote is sent as soon as you are back."];
    }
    if (kind === "offline")
      return [
        "The server cannot be reached. Go on writing: it is kept in this browser and sent when the connection is back. ",
        this.#button("Try now", this.onRetry),
      ];
    if (kind === "lost") {
      const who = why
        ? `${why} `
        : holder
          ? `${holder} is at work on this now. `
          : "Your lease on this has run out and nobody else has it. ";
      return [who, this.#button("Take over", this.onTake, "t"), " ", this.#copy()];
    }
    if (kind === "closed") return [`${CLOSED[why ?? ""] ?? why} `, this.#copy()];
    return null;
  }

  /** What was written here and will not be sent is at least not gone. */
  #copy() {
    if (!this.saver.unsent) return "";
    return this.#button("Copy what is unsaved", async () => {
      const lines = this.document.pending.map(
        ({ kind, field, after }) => `${kind} ${field}: ${typeof after === "string" ? after : JSON.stringify(after)}`,
      );
      await navigator.clipboard.writeText(lines.join("\n"));
    });
  }

  /** @param {string} text @param {() => void} run */
  #button(text, run, key = "") {
    const button = make(
      "button.btn.small",
      { type: "button" },
      text,
      key ? " " : null,
      key ? make("kbd", {}, key) : null,
    );
    button.addEventListener("click", run);
    return button;
  }

  /** @param {(string | Node)[] | null} content */
  #bar(content) {
    const said = content?.map((part) => (part instanceof Node ? part.textContent : part)).join("") ?? "";
    if (this.notice.dataset.said === said) return;
    this.notice.dataset.said = said;
    this.notice.hidden = !content;
    this.notice.replaceChildren(...(content ?? []));
  }
}
