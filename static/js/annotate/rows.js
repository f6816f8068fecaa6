// The parts below each other: steps and instruction while decomposing, original and rewrite while rewriting.
import { make } from "../shared/elements.js";
import { wordDiff } from "./diff.js";
import { placeOf } from "./document.js";
import { Editor } from "./editor.js";
import { shownStep } from "./film.js";

/** @typedef {import("./document.js").Part} Part */
/** @typedef {import("./document.js").MarkedMention} MarkedMention */
/** @typedef {{step: number, field: "instruction" | "rewrite" | "", text: string, span: [number, number] | null}} Warned */
/**
 * @typedef {{
 *   onEdit: (step: number, field: string, before: string, after: string) => void,
 *   onFocus: (step: number) => void,
 *   onStep: (place: number) => void,
 *   onMark: (phenomenon: "anaphora" | "ellipsis") => void,
 *   onRemove: (step: number, mention: MarkedMention) => void,
 *   onConflict: () => void,
 *   onTooLong: (text: string) => void,
 *   whoChanged: (who: string) => string,
 * }} RowActions
 */

export class Rows {
  /** The place that the next mention will mark, in characters. @type {{step: number, start: number, end: number, text: string} | null} */
  selected = null;
  /** @type {Map<number, Row>} */
  #rows = new Map();

  /** @param {HTMLElement} root @param {import("./document.js").AnnotationDocument} document @param {RowActions} actions */
  constructor(root, document, actions) {
    this.root = root;
    this.document = document;
    this.actions = actions;
  }

  /** The field that people write in at this stage. */
  get field() {
    return this.document.about.stage === "rewrite" ? "rewrite" : "instruction";
  }

  /** @param {{writable: boolean}} options */
  render({ writable }) {
    const { parts } = this.document;
    const rows = parts.map((part) => this.#rows.get(part.step) ?? new Row(part.step, this));
    const kept = new Map(rows.map((row) => [row.step, row]));
    for (const [step, row] of this.#rows) if (!kept.has(step)) row.root.remove();
    this.#rows = kept;
    let expected = this.root.firstElementChild;
    for (const [index, row] of rows.entries()) {
      if (expected !== row.root) this.root.insertBefore(row.root, expected); // moving it would cost it the focus
      row.show(parts[index], index, writable);
      expected = row.root.nextElementSibling;
    }
  }

  /** Mark the row of a part, and the step (by its place) that is shown. @param {number} index @param {number} at */
  select(index, at) {
    for (const button of this.root.querySelectorAll("[data-step-place]")) {
      if (Number(button.dataset.stepPlace) === at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    for (const [place, row] of [...this.#rows.values()].entries()) {
      if (place === index) row.root.setAttribute("aria-current", "true");
      else row.root.removeAttribute("aria-current");
    }
  }

  /** Give the keyboard to a row, or to its text. @param {number} index */
  focus(index, { editor = false } = {}) {
    const row = [...this.#rows.values()][index];
    if (!row) return;
    (editor ? row.editor.area : row.root).focus({ preventScroll: true });
    row.root.scrollIntoView({ block: "nearest" });
  }

  /** Bring the row of a part into view. @param {number} index */
  reveal(index) {
    [...this.#rows.values()][index]?.root.scrollIntoView({ block: "nearest" });
  }

  /** The mention was marked: nothing is selected any more. */
  unselect() {
    this.selected = null;
    for (const row of this.#rows.values()) row.marking.hidden = true;
  }

  flush() {
    for (const row of this.#rows.values()) row.editor.flush();
  }

  /** Whether something was typed that is no edit yet. */
  get isTyping() {
    return [...this.#rows.values()].some((row) => row.editor.base !== null);
  }

  /** The part whose row has the keyboard; null when none has. */
  focused() {
    const root = document.activeElement?.closest?.(".part-row");
    return root ? Number(root.dataset.step) : null;
  }
}

class Row {
  /** What it was last drawn from. */
  #drawn = "";

  /** @param {number} step the first one of its part @param {Rows} rows */
  constructor(step, rows) {
    this.step = step;
    this.rows = rows;
    const { field, actions } = rows;
    this.editor = new Editor({
      label: "",
      placeholder:
        field === "rewrite" ? "As it is said in the conversation" : "What this part asks for, standing alone",
      onEdit: (before, after) => actions.onEdit(step, field, before, after),
      onSelect: () => this.#selected(),
      onTooLong: actions.onTooLong,
    });
    this.who = make("div.who");
    this.left = make("div.left-cell");
    this.below = make("div.below");
    this.marking = make("div.marking", { hidden: true });
    this.root = make(
      "article.part-row",
      { tabindex: -1, "data-step": step },
      this.who,
      this.left,
      make("div.right-cell", {}, this.editor.root, this.marking, this.below),
    );
    this.root.addEventListener("focusin", () => actions.onFocus(step));
  }

  /** Draw it, unless it reads as it did: an edit changes few rows of many. @param {Part} part @param {number} index @param {boolean} writable */
  show(part, index, writable) {
    const { document: doc, field } = this.rows;
    const [first, last] = doc.range(index);
    /** @type {Warned[]} */
    const all = doc.warnings ?? [];
    const warnings = all.filter((warning) => warning.step === this.step);
    const mentioned = part.mentions.map((mention) => this.#antecedent(mention));
    const drawn = JSON.stringify([part, index, first, last, writable, warnings, mentioned, this.#open()]);
    if (drawn === this.#drawn && this.editor.shows(part[field])) return;
    this.#drawn = drawn;
    const word = field === "rewrite" ? "Turn" : "Part";
    const steps = first === last ? `step ${first + 1}` : `steps ${first + 1}–${last + 1}`;
    this.root.setAttribute("aria-label", `${word} ${index + 1}, ${steps}`);
    this.editor.area.setAttribute(
      "aria-label",
      `${field === "rewrite" ? "Rewrite" : "Instruction"} of ${word.toLowerCase()} ${index + 1}, ${steps}`,
    );
    this.who.replaceChildren(make("b", {}, `${word} ${index + 1}`), make("span", {}, steps));
    this.editor.isReadOnly = !writable;
    this.editor.show(part[field], [...this.#mentionMarks(part), ...this.#warningMarks(part, warnings)]);
    this.left.replaceChildren(
      ...(field === "rewrite" ? [make("p.original", {}, part.instruction)] : this.#steps(first, last)),
    );
    this.below.replaceChildren(
      ...this.#diff(part),
      ...this.#chips(part, writable),
      ...warnings.map((warning) => this.#warning(part, warning)),
      ...this.#conflict(),
    );
  }

  /** @param {number} first @param {number} last */
  #steps(first, last) {
    return this.rows.document.steps.slice(first, last + 1).map((step, offset) => {
      const { operation, name, value } = shownStep(step);
      const text = [
        make("i", {}, first + offset + 1),
        make("span.clip", {}, make("b", {}, operation), ` ${value ? `“${value}” in ` : ""}${name}`),
      ];
      const button = make(
        "button.plain.part-step",
        { type: "button", tabindex: -1, title: step.action_repr, "data-step-place": first + offset },
        ...text,
      );
      button.addEventListener("click", () => this.rows.actions.onStep(first + offset));
      return button;
    });
  }

  /** @param {Part} part */
  #diff(part) {
    if (this.rows.field !== "rewrite") return [];
    if (part.rewrite === part.instruction) return [make("p.diff.faint", {}, "reads as the original")];
    const looks = { same: "span", del: "del", ins: "ins" };
    return [
      make(
        "p.diff",
        { "aria-label": "Changes from the original" },
        ...wordDiff(part.instruction, part.rewrite).map(({ kind, text }) => make(looks[kind], {}, text)),
      ),
    ];
  }

  /** @param {Part} part @param {boolean} writable */
  #chips(part, writable) {
    if (!part.mentions.length) return [];
    const chips = part.mentions.map((mention) => {
      const remove = make(
        "button.plain.remove",
        { type: "button", "aria-label": `Remove the mark of “${mention.text}”`, title: "Remove" },
        "×",
      );
      remove.addEventListener("click", () => this.rows.actions.onRemove(this.step, mention));
      return make("span.chip", {}, ...this.#mentioned(mention), writable ? remove : null);
    });
    return [make("p.chips", {}, ...chips)];
  }

  /** The turn of a mention's antecedent, from 0, and what it says there, if that is not all. @param {MarkedMention} mention */
  #antecedent({ antecedent }) {
    const { parts } = this.rows.document;
    const turn = parts.findIndex((part) => part.step === antecedent?.step);
    const isAll = !antecedent?.text || parts[turn]?.rewrite === antecedent.text;
    return { turn, said: isAll ? "" : ` “${short(antecedent.text)}”` };
  }

  /** @param {MarkedMention} mention */
  #mentioned(mention) {
    const { phenomenon, text, antecedent } = mention;
    const word = phenomenon === "ellipsis" ? "ellipsis" : `anaphora, ${phenomenon}`;
    const { turn, said } = this.#antecedent(mention);
    const where = !antecedent ? "no antecedent" : turn < 0 ? "turn that is gone" : `turn ${turn + 1}`;
    return [
      text ? make("b", {}, `“${short(text)}”`) : null,
      make("span.clip", { title: antecedent?.text ?? null }, `${word} → ${where}${said}`),
    ];
  }

  /** @param {Part} part */
  #mentionMarks(part) {
    if (this.rows.field !== "rewrite") return [];
    return part.mentions.map(({ start, end, phenomenon }) => ({
      ...units(part.rewrite, start, end),
      kind: phenomenon === "ellipsis" ? "ellipsis" : "anaphora",
    }));
  }

  /** @param {Part} part @param {Warned[]} warnings */
  #warningMarks(part, warnings) {
    const { field } = this.rows;
    return warnings.flatMap((warning) =>
      warning.span && warning.field === field ? [{ ...units(part[field], ...warning.span), kind: "doubtful" }] : [],
    );
  }

  /** @param {Part} part @param {Warned} warning */
  #warning(part, { field, text, span }) {
    const said =
      span && field && part[field]
        ? Array.from(part[field])
            .slice(...span)
            .join("")
        : "";
    return make(
      "p.warning",
      {},
      make("span", { "aria-hidden": "true" }, "⚠ "),
      said && !text.includes(said) ? `“${said}”: ` : "",
      text,
    );
  }

  #open() {
    return this.rows.document.conflicts.find((conflict) => conflict.step === this.step);
  }

  #conflict() {
    const open = this.#open();
    if (!open) return [];
    const button = make("button.btn.small", { type: "button" }, "Decide");
    button.addEventListener("click", () => this.rows.actions.onConflict());
    return [make("p.warning", {}, `⚠ ${this.rows.actions.whoChanged(open.who ?? "")} `, button)];
  }

  /** Offer to mark what is selected; it stays selected when the text is left with Escape. */
  #selected() {
    if (this.rows.field !== "rewrite" || this.editor.area.readOnly) return;
    const text = this.editor.area.value;
    const { start, end } = trimmed(text, this.editor.selection);
    const isHere =
      start !== end || document.activeElement === this.editor.area || this.rows.selected?.step === this.step;
    if (!isHere) return;
    this.rows.selected = {
      step: this.step,
      start: placeOf(text, start),
      end: placeOf(text, end),
      text: text.slice(start, end),
    };
    this.#offer(text.slice(start, end));
  }

  /** @param {string} said */
  #offer(said) {
    const isSame = this.marking.dataset.said === said && !this.marking.hidden;
    if (isSame) return;
    this.marking.dataset.said = said;
    this.marking.hidden = !said;
    const button = (/** @type {"anaphora" | "ellipsis"} */ phenomenon, /** @type {string[]} */ keys) => {
      const made = make(
        "button.btn.small",
        { type: "button", tabindex: -1 },
        phenomenon,
        " ",
        ...keys.flatMap((key) => [make("kbd", {}, key), " "]),
      );
      made.addEventListener("mousedown", (event) => event.preventDefault()); // or the selection would be gone
      made.addEventListener("click", () => this.rows.actions.onMark(phenomenon));
      return made;
    };
    this.marking.replaceChildren(
      make("span.clip", {}, `“${said}”`),
      button("anaphora", ["m", "a"]),
      button("ellipsis", ["m", "e"]),
      make("span.faint.nowrap", {}, "after ", make("kbd", {}, "Esc")),
    );
  }
}

/**
 * A selection without the spaces around its words.
 * @param {string} text
 * @param {{start: number, end: number}} selection
 */
function trimmed(text, { start, end }) {
  const said = text.slice(start, end);
  if (!said.trim()) return { start, end: start };
  return { start: start + said.length - said.trimStart().length, end: end - said.length + said.trimEnd().length };
}

/** @param {string} text */
function short(text) {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** Places in characters as places in UTF-16 units. @param {string} text @param {number} start @param {number} end */
function units(text, start, end) {
  const characters = Array.from(text);
  const before = characters.slice(0, start).join("").length;
  return { start: before, end: before + characters.slice(start, end).join("").length };
}
