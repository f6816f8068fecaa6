// When two people changed the same words: what it was, theirs and mine beside each other, and one decision.
import { around, make } from "../shared/elements.js";
import { wordDiff } from "./diff.js";
import { newEdit } from "./document.js";

const PAUSE_MS = 600; // whoever was typing when the question came has not answered it

/** @typedef {import("./journal.js").Conflict} Conflict */

export class ConflictDialog {
  #dialog;
  #me;
  #onDecide;
  /** @type {Conflict | null} */
  #conflict = null;
  #lastKey = 0;
  /** @type {Map<string, () => void>} what the keys 1, 2, 3 do */
  #choices = new Map();

  /** @param {HTMLDialogElement} dialog @param {string} me the name of who is asked @param {(conflict: Conflict, edits: import("./journal.js").Edit[]) => void} onDecide */
  constructor(dialog, me, onDecide) {
    this.#dialog = dialog;
    this.#me = me;
    this.#onDecide = onDecide;
    dialog.addEventListener("keydown", (event) => this.#press(event));
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** @param {Conflict} conflict @param {string} where the place in words: "Turn 4" @param {number} left how many more there are */
  show(conflict, where, left) {
    this.#conflict = conflict;
    this.#choices.clear();
    const intro = conflict.why
      ? `It could not be saved: ${conflict.why}`
      : "This was changed in two ways at once. Nothing is written until you decide.";
    const rows = conflict.kind === "text" ? this.#texts() : this.#wholes();
    this.#dialog.replaceChildren(
      make("h1", { tabindex: -1, autofocus: true }, where, left ? make("small.faint", {}, ` and ${left} more`) : null),
      make("p.muted", {}, intro),
      ...rows,
      make("p.faint", {}, make("kbd", {}, "Esc"), " decides later; your version stays in this browser."),
    );
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#dialog.querySelector("h1")?.focus(); // no button, which a space would press
    this.#lastKey = performance.now();
  }

  /** The conflict that is shown. */
  get #asked() {
    if (!this.#conflict) throw new Error("no conflict is shown");
    return this.#conflict;
  }

  /** Who wrote the other version: it may be oneself, elsewhere. */
  get #other() {
    return this.#asked.who === this.#me ? "Your other window" : "Theirs";
  }

  #texts() {
    const { base, theirs, mine } = this.#asked;
    if (theirs === null) {
      return [
        this.#row("2", this.#other, make("p", {}, "This part was joined with the one before it."), () =>
          this.#decide([]),
        ),
        this.#row("3", "Mine", make("p", {}, mine), () => this.#decide(this.#cutAgain())),
      ];
    }
    const area = make("textarea", { "aria-label": "Edited" }, mine);
    const save = make("button.btn.primary", { type: "button" }, "Save edited ", make("kbd", {}, "Ctrl ⏎"));
    this.#choices.set("e", () => area.focus());
    const decided = () => this.#decide(this.#written(area.value));
    this.#choices.set("save", decided);
    save.addEventListener("click", decided);
    return [
      this.#row("1", "Before", make("p", {}, base), () => this.#decide(this.#written(base))),
      this.#row("2", this.#other, changed(base, theirs), () => this.#decide([])),
      this.#row("3", "Mine", changed(base, mine), () => this.#decide(this.#written(mine))),
      make(
        "div.version",
        {},
        make("div.version-head", {}, make("b", {}, "Edited "), make("kbd", {}, "e")),
        make("div", {}, area, save),
      ),
    ];
  }

  /** Cuts, joins and mentions: one or the other as a whole. */
  #wholes() {
    const { theirs, mine } = this.#asked;
    return [
      this.#row("2", this.#other, make("p", {}, summary(theirs)), () => this.#decide([])),
      this.#row("3", "Mine", make("p", {}, summary(mine)), () => this.#decide(this.#whole())),
    ];
  }

  /** @param {string} key @param {string} name @param {HTMLElement} shown @param {() => void} run */
  #row(key, name, shown, run) {
    this.#choices.set(key, run);
    const button = make("button.btn.small", { type: "button" }, `${name} `, make("kbd", {}, key));
    button.addEventListener("click", run);
    return make("div.version", {}, make("div.version-head", {}, button), shown);
  }

  /** @param {string} text */
  #written(text) {
    const { step, field, theirs } = this.#asked;
    return text === theirs ? [] : [newEdit("text", step, { field, before: theirs, after: text })];
  }

  #cutAgain() {
    const { step, field, mine } = this.#asked;
    return [newEdit("cut", step, { after: { instruction: "", rewrite: "", [field]: mine } })];
  }

  #whole() {
    const { kind, step, theirs, mine } = this.#asked;
    if (kind === "mentions") return theirs === null ? [] : [newEdit("mentions", step, { before: theirs, after: mine })];
    if (kind === "join") return theirs === null ? [] : [newEdit("join", step, { before: theirs })];
    if (theirs === null) return [newEdit("cut", step, { after: mine })];
    const fields = ["instruction", "rewrite"].filter((field) => (mine[field] ?? "") !== theirs[field]);
    return fields.map((field) => newEdit("text", step, { field, before: theirs[field], after: mine[field] ?? "" }));
  }

  /** @param {import("./journal.js").Edit[]} edits */
  #decide(edits) {
    const conflict = this.#asked;
    this.#dialog.close();
    this.#onDecide(conflict, edits);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const isHasty = performance.now() - this.#lastKey < PAUSE_MS;
    this.#lastKey = performance.now();
    const typing = around(event, "textarea") !== null;
    const name =
      (event.ctrlKey || event.metaKey) && event.key === "Enter"
        ? "save"
        : typing || event.ctrlKey || event.metaKey || event.altKey
          ? ""
          : event.key;
    const run = name ? this.#choices.get(name) : null;
    if (!run || (isHasty && !typing)) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  }
}

/** @param {string} before @param {string} after */
function changed(before, after) {
  const looks = { same: "span", del: "del", ins: "ins" };
  return make("p", {}, ...wordDiff(before, after).map(({ kind, text }) => make(looks[kind], {}, text)));
}

/** @param {any} value */
function summary(value) {
  if (value === null) return "One part: no cut here.";
  if (!Array.isArray(value))
    return `A cut here. ${[value.instruction, value.rewrite].filter(Boolean).join(" / ") || "No text yet."}`;
  return value.map(({ text, phenomenon }) => `“${text}” (${phenomenon})`).join(", ") || "No mentions.";
}
