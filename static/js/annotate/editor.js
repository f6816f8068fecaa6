// A text that grows with what is written in it; marks are drawn behind it, at the places that they are about.
import { make } from "../shared/elements.js";
import { refusedPaste } from "../shared/too_long.js";
import { moved } from "./diff.js";

const MOST = 10_000; // characters of one text, as the server takes them
const SETTLED_MS = 400; // after the last key before it becomes an edit

/** @typedef {{start: number, end: number, kind: string}} Shown places in UTF-16 units; kind is a class of the mark */

/**
 * @typedef {{
 *   label: string,
 *   placeholder: string,
 *   onEdit: (before: string, after: string) => void,
 *   onSelect?: () => void,
 *   onTooLong?: (text: string) => void,
 * }} EditorOptions
 */

export class Editor {
  /** What the text read when the typing began that is no edit yet; null when there is none. @type {string | null} */
  base = null;
  /** What is marked in the text. @type {Shown[]} */
  marks = [];
  #timer = 0;
  #isComposing = false;
  #isTouched = false; // since it was shown

  /** @param {EditorOptions} options */
  constructor({ label, placeholder, onEdit, onSelect = () => {}, onTooLong = () => {} }) {
    this.onEdit = onEdit;
    this.backdrop = make("div.backdrop", { "aria-hidden": "true" });
    this.area = make("textarea", { rows: 1, "aria-label": label, placeholder, maxlength: MOST });
    this.onTooLong = onTooLong;
    this.root = make("div.editor", {}, this.backdrop, this.area);
    this.value = "";
    this.area.addEventListener("input", () => this.#typed());
    this.area.addEventListener("paste", (event) => this.#pasted(event));
    this.area.addEventListener("blur", () => this.flush());
    this.area.addEventListener("compositionstart", () => (this.#isComposing = true));
    this.area.addEventListener("compositionend", () => (this.#isComposing = false));
    for (const type of ["select", "keyup", "mouseup", "blur"]) this.area.addEventListener(type, onSelect);
  }

  /** Show the document's text, unless somebody is typing: then their edit is merged first. @param {string} text @param {Shown[]} marks */
  show(text, marks = []) {
    if (this.base === null && this.area.value !== text) this.#exchange(text);
    this.marks = marks;
    this.#isTouched = this.base !== null;
    this.#draw();
  }

  /** Whether it reads so, with the marks that it was shown with. @param {string} text */
  shows(text) {
    return !this.#isTouched && this.area.value === text;
  }

  /** @param {boolean} isReadOnly */
  set isReadOnly(isReadOnly) {
    this.area.readOnly = isReadOnly;
  }

  get selection() {
    return { start: this.area.selectionStart, end: this.area.selectionEnd };
  }

  /** Make an edit of what was typed so far. */
  flush() {
    window.clearTimeout(this.#timer);
    if (this.base === null) return;
    const before = this.base;
    this.base = null;
    if (before !== this.area.value) this.onEdit(before, this.area.value);
  }

  /** @param {ClipboardEvent} event */
  #pasted(event) {
    const why = refusedPaste(event);
    if (why) this.onTooLong(why);
  }

  #typed() {
    this.base ??= this.value;
    this.#isTouched = true;
    this.marks = [];
    this.#draw();
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => (this.#isComposing ? this.#typed() : this.flush()), SETTLED_MS);
  }

  /** Another text, with the caret at the same words. @param {string} text */
  #exchange(text) {
    const { start, end } = this.selection;
    const place = moved(this.area.value, text);
    const hadFocus = document.activeElement === this.area;
    this.area.value = text;
    if (hadFocus) this.area.setSelectionRange(place(start), place(end, true));
  }

  #draw() {
    const text = this.area.value;
    if (this.base === null) this.value = text;
    /** @type {(string | Node)[]} */
    const pieces = [];
    let from = 0;
    for (const { start, end, kind } of [...this.marks].sort((a, b) => a.start - b.start || a.end - b.end)) {
      if (start < from || end > text.length) continue; // a mark inside another one is in the list below
      pieces.push(text.slice(from, start), make(`mark.${kind}`, {}, text.slice(start, end)));
      from = end;
    }
    this.backdrop.replaceChildren(...pieces, `${text.slice(from)}\u200b`);
  }
}
