// Marking a mention: which sort of anaphor it is, and what was said before that it stands for.
import { around, make } from "../shared/elements.js";
import { words } from "./diff.js";
import { length, newId } from "./document.js";

const PRONOUNS = /^(it|its|they|them|their|theirs|he|him|his|she|her|hers|there|one|ones|both|each|all|mine|ours)\b/i;
const DEMONSTRATIVES = /^(this|that|these|those|here|such)\b/i;

/** The sort of anaphor that words most likely are; the person can choose another. @param {string} text */
function guess(text) {
  if (DEMONSTRATIVES.test(text)) return "demonstrative";
  return PRONOUNS.test(text) ? "pronoun" : "definite";
}

/** @typedef {{step: number, start: number, end: number, text: string}} Selected places in characters */
/** @typedef {ReturnType<typeof line>} TurnLine a turn with the places of its words, in UTF-16 units */

export class MentionDialog {
  #dialog;
  #phenomena;
  /** One per earlier turn, then "nothing". @type {(TurnLine | null)[]} */
  #lines = [];
  #line = 0;
  /** @type {[number, number] | null} the first and last word that are chosen; null: the whole turn */
  #span = null;
  /** @type {(mention: import("./document.js").MarkedMention | null) => void} */
  #done = () => {};
  #list = make("div.antecedents", { role: "listbox", tabindex: 0, "aria-label": "What it stands for" });
  #chosen = make("p.muted", { "aria-live": "polite" });
  phenomenon = "";
  /** @type {Selected} */
  selected = { step: 0, start: 0, end: 0, text: "" };

  /** @param {HTMLDialogElement} dialog @param {Record<string, string>} phenomena their descriptions by name */
  constructor(dialog, phenomena) {
    this.#dialog = dialog;
    this.#phenomena = phenomena;
    dialog.addEventListener("keydown", (event) => this.#press(event));
    dialog.addEventListener("close", () => this.#done(null));
  }

  /**
   * Ask what a mention stands for. Resolves to the mention, or null when the person thinks better of it.
   * @param {import("./document.js").AnnotationDocument} document
   * @param {Selected} selected
   * @param {"anaphora" | "ellipsis"} sort
   * @returns {Promise<import("./document.js").MarkedMention | null>}
   */
  ask(document, selected, sort) {
    const index = document.parts.findIndex((part) => part.step === selected.step);
    this.#lines = [...document.parts.slice(0, index).map(line), null];
    this.#line = Math.max(0, index - 1);
    this.#span = null;
    this.phenomenon = sort === "ellipsis" ? sort : guess(selected.text);
    this.selected = selected;
    this.#dialog.replaceChildren(...this.#content(sort));
    this.#render();
    this.#dialog.showModal();
    this.#list.focus();
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }

  /** @param {"anaphora" | "ellipsis"} sort */
  #content(sort) {
    const said = this.selected.text ? `“${this.selected.text}”` : "Something left out";
    const sorts = Object.entries(this.#phenomena).filter(([name]) => name !== "ellipsis");
    const choices =
      sort === "ellipsis"
        ? []
        : [
            make(
              "p.sorts",
              { role: "group", "aria-label": "Sort of anaphor" },
              ...sorts.map(([name, label], number) => this.#sort(name, label, number + 1)),
            ),
          ];
    const keys = [["↑", "↓"], " turn  ", ["←", "→"], " word  ", ["⇧→"], " more words  ", ["Home"], " whole turn"];
    const hints = make(
      "p.faint",
      {},
      ...keys.flatMap((part) => (Array.isArray(part) ? part.flatMap((key) => [make("kbd", {}, key), " "]) : [part])),
    );
    const mark = make("button.btn.primary", { type: "button" }, "Mark ", make("kbd", {}, "⏎"));
    const cancel = make("button.btn", { type: "button" }, "Cancel ", make("kbd", {}, "Esc"));
    mark.addEventListener("click", () => this.#finish());
    cancel.addEventListener("click", () => this.#dialog.close());
    return [
      make("h1", {}, `${said} `, make("small.faint", {}, sort)),
      ...choices,
      make("h2", {}, "stands for"),
      this.#list,
      this.#chosen,
      hints,
      make("div.actions", {}, mark, cancel),
    ];
  }

  /** @param {string} name @param {string} label @param {number} key */
  #sort(name, label, key) {
    const button = make("button.btn.small", { type: "button", "data-sort": name }, make("kbd", {}, key), ` ${label}`);
    button.addEventListener("click", () => this.#choose(name));
    return button;
  }

  /** @param {string} name */
  #choose(name) {
    this.phenomenon = name;
    this.#render();
  }

  #render() {
    for (const button of this.#dialog.querySelectorAll("[data-sort]"))
      button.setAttribute("aria-pressed", String(button.dataset.sort === this.phenomenon));
    this.#list.replaceChildren(...this.#lines.map((one, index) => this.#option(one, index)));
    const antecedent = this.#antecedent();
    this.#chosen.textContent = !antecedent
      ? "Nothing that was said before."
      : `Turn ${this.#line + 1}${this.#span ? `: “${antecedent.text}”` : ", as a whole."}`;
    this.#list.setAttribute("aria-activedescendant", `antecedent-${this.#line}`);
    this.#list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {TurnLine | null} one @param {number} index */
  #option(one, index) {
    const isChosen = index === this.#line;
    const option = make("div.antecedent", {
      role: "option",
      id: `antecedent-${index}`,
      "aria-selected": String(isChosen),
    });
    option.addEventListener("click", (event) => {
      const word = around(event, "[data-word]")?.dataset.word;
      this.#point(index, word === undefined ? null : Number(word), event.shiftKey);
    });
    if (!one)
      option.append(
        make("span.who", {}, "none"),
        make("span", {}, "Nothing that was said before: the page, or what everybody knows."),
      );
    else option.append(make("span.who", {}, `Turn ${index + 1}`), make("span", {}, ...this.#words(one, isChosen)));
    return option;
  }

  /** @param {TurnLine} line @param {boolean} isChosen */
  #words({ text, places }, isChosen) {
    const [from, to] = (isChosen && this.#span) || [-1, -1];
    let at = 0;
    /** @type {(string | Node)[]} */
    const pieces = [];
    for (const [number, { start, end }] of places.entries()) {
      pieces.push(make(number > from && number <= to ? "span.in" : "span", {}, text.slice(at, start)));
      pieces.push(
        make(
          number >= from && number <= to ? "span.word.in" : "span.word",
          { "data-word": number },
          text.slice(start, end),
        ),
      );
      at = end;
    }
    return [...pieces, text.slice(at)];
  }

  /** @param {number} index @param {number | null} word @param {boolean} isMore */
  #point(index, word, isMore) {
    const [from, to] = (isMore && index === this.#line && this.#span) || [word ?? 0, word ?? 0];
    this.#span = word === null ? null : [Math.min(from, word), Math.max(to, word)];
    this.#line = index;
    this.#render();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const { key, shiftKey } = event;
    const sort = Object.keys(this.#phenomena).filter((name) => name !== "ellipsis")[Number(key) - 1];
    const inList = event.target === this.#list;
    if (key === "ArrowUp" || key === "ArrowDown") this.#turn(key === "ArrowUp" ? -1 : 1);
    else if (key === "ArrowLeft" || key === "ArrowRight") this.#word(key === "ArrowLeft" ? -1 : 1, shiftKey);
    else if (key === "Home") this.#point(this.#line, null, false);
    else if (key === "Enter" && inList) this.#finish();
    else if (sort && this.phenomenon !== "ellipsis") this.#choose(sort);
    else return;
    event.preventDefault();
  }

  /** @param {1 | -1} direction */
  #turn(direction) {
    const next = this.#line + direction;
    if (next >= 0 && next < this.#lines.length) this.#point(next, null, false);
  }

  /** @param {1 | -1} direction @param {boolean} isMore */
  #word(direction, isMore) {
    const count = this.#lines[this.#line]?.places.length ?? 0;
    if (!count) return;
    const [from, to] = this.#span ?? [direction > 0 ? -1 : count, direction > 0 ? -1 : count];
    const inside = (/** @type {number} */ word) => Math.max(0, Math.min(count - 1, word));
    if (!isMore || !this.#span)
      this.#span = [inside((direction > 0 ? to : from) + direction), inside((direction > 0 ? to : from) + direction)];
    else this.#span = direction > 0 ? [from, inside(to + 1)] : [from, Math.max(from, to - 1)];
    this.#render();
  }

  #antecedent() {
    const one = this.#lines[this.#line];
    if (!one) return null;
    const [from, to] = this.#span
      ? [one.places[this.#span[0]].start, one.places[this.#span[1]].end]
      : [0, one.text.length];
    return {
      step: one.step,
      start: length(one.text.slice(0, from)),
      end: length(one.text.slice(0, to)),
      text: one.text.slice(from, to),
    };
  }

  #finish() {
    const { start, end, text } = this.selected;
    const mention = { id: newId(), phenomenon: this.phenomenon, start, end, text, antecedent: this.#antecedent() };
    this.#done(mention);
    this.#done = () => {};
    this.#dialog.close();
  }
}

/** A turn with the places of its words. @param {{step: number, rewrite: string}} turn */
function line({ step, rewrite }) {
  /** @type {{start: number, end: number}[]} */
  const places = [];
  let at = 0;
  for (const word of words(rewrite)) {
    if (/[\p{L}\p{N}]/u.test(word)) places.push({ start: at, end: at + word.length });
    at += word.length;
  }
  return { step, text: rewrite, places };
}
