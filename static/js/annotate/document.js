// One annotation as this browser knows it: what the server holds, and the edits that it has not answered for yet.

/** @typedef {import("./journal.js").Edit} Edit */
/** @typedef {import("./journal.js").Conflict} Conflict */
/**
 * @typedef {{
 *   id: string,
 *   phenomenon: string,
 *   start: number,
 *   end: number,
 *   text: string,
 *   antecedent: {step: number, start: number, end: number, text: string} | null,
 * }} MarkedMention
 */
/** @typedef {{start: number, end: number, text: string, parts: number[], state: "" | "uncovered" | "doubled"}} Clause */
/** @typedef {{step: number, instruction: string, rewrite: string, mentions: MarkedMention[]}} Part */

/** @typedef {import("../shared/elements.js").Action & {id: number, task: number, [name: string]: any}} RecordedStep */
/** @typedef {Conflict & {replaces: string[]}} OpenConflict */

const EMPTY = { instruction: "", rewrite: "", mentions: [] };

export class AnnotationDocument {
  /** @type {Edit[]} made here, in order; the first ones may be on their way */
  pending = [];
  /** @type {Conflict[]} what the person has to decide */
  conflicts = [];
  /** The proposal that the edit answered for last came of. @type {number | null} */
  #answered = null;
  /** @type {Part[] | null} */
  #parts = null;
  /** What the annotation is and who has it. @type {Record<string, any>} */
  about = {};
  /** Where each step comes, from 0. @type {Map<number, number>} */
  places = new Map();

  /** @param {Record<string, any>} answer of the server, the whole document */
  constructor(answer) {
    this.load(answer);
  }

  /** Take the whole document; edits that are not answered for stay on top of it. @param {Record<string, any>} answer */
  load(answer) {
    const { version, steps, tasks, clauses, warnings, undo, redo, parts, proposals, ...about } = answer;
    this.about = about;
    this.version = version;
    /** @type {RecordedStep[]} */
    this.steps = steps;
    this.tasks = tasks;
    /** Of each task the clauses of its instruction. @type {Clause[][]} */
    this.clauses = clauses;
    this.warnings = warnings;
    this.canUndo = undo;
    this.canRedo = redo;
    /** @type {Part[]} */
    this.saved = parts;
    this.proposals = proposals;
    this.places = new Map(this.steps.map((step, place) => [step.id, place]));
    this.#parts = null;
  }

  /**
   * Take the answer to some edits: those that became conflicts, and edits that others made.
   * @param {Record<string, any>} answer
   * @param {Edit[]} sent
   */
  take(answer, sent) {
    this.version = answer.version;
    this.saved = answer.parts;
    this.clauses = answer.clauses;
    this.warnings = answer.warnings;
    this.canUndo = answer.undo;
    this.canRedo = answer.redo;
    /** @type {Map<string, any>} */
    const results = new Map(answer.results.map((/** @type {any} */ result) => [result.op_id, result]));
    const conflicts = sent
      .filter((edit) => results.get(edit.op_id)?.status === "conflict")
      .map((edit) =>
        this.#conflict(edit, results.get(edit.op_id).theirs ?? null, "", writer(edit, answer.others ?? [])),
      );
    const gone = new Set(sent.map((edit) => edit.op_id));
    this.#answered = sent.at(-1)?.proposal ?? null;
    this.pending = this.pending.filter((edit) => !gone.has(edit.op_id));
    this.#parts = null;
    return { conflicts, others: answer.others ?? [] };
  }

  /**
   * An edit that cannot be made; later ones of the same place are part of the same question.
   * @param {Edit} edit
   * @param {any} theirs
   * @returns {OpenConflict}
   */
  #conflict(edit, theirs, why = "", who = "") {
    const { step, kind, field } = edit;
    const later = this.pending.filter((other) => other !== edit && target(other) === target(edit));
    this.pending = this.pending.filter((other) => !later.includes(other));
    const earlier = this.conflicts.find((one) => target(one) === target(edit));
    const mine = (later.at(-1) ?? edit).after;
    const conflict = { step, kind, field, base: earlier?.base ?? edit.before, theirs, mine, why, who };
    this.conflicts = [...this.conflicts.filter((one) => one !== earlier), conflict];
    return { ...conflict, replaces: [edit, ...later].map((one) => one.op_id) };
  }

  /** An edit that the server will never take: the person is asked, nothing is dropped. @param {Edit} edit @param {string} why */
  refuse(edit, why) {
    const part = this.saved.find(({ step }) => step === edit.step);
    const current =
      edit.kind === "cut" || edit.kind === "join"
        ? (part ?? null)
        : (part?.[/** @type {keyof Part} */ (edit.field || "mentions")] ?? null);
    this.pending = this.pending.filter((other) => other !== edit);
    this.#parts = null;
    return this.#conflict(edit, current, why);
  }

  /** Whether nobody has edited it: its parts are as they came. */
  get isUntouched() {
    return this.version === 0 && !this.pending.length;
  }

  /** @param {Edit} edit */
  add(edit) {
    this.pending.push(edit);
    this.#parts = null;
  }

  /** The edits that are undone next, those of one proposal together; none where the server has some of them.
   * @returns {Edit[]} */
  get newest() {
    const proposal = this.pending.at(-1)?.proposal ?? null;
    if (proposal === null) return this.pending.slice(-1);
    const first = this.pending.findLastIndex((edit) => edit.proposal !== proposal) + 1;
    return first === 0 && this.#answered === proposal ? [] : this.pending.slice(first);
  }

  /** Take back an edit that was never sent. @param {Edit} edit */
  drop(edit) {
    this.pending = this.pending.filter((other) => other !== edit);
    this.#parts = null;
  }

  /** What the person writes while a question is open. @param {Conflict} conflict @param {any} mine */
  answer(conflict, mine) {
    const answered = { ...conflict, mine };
    this.conflicts = this.conflicts.map((other) => (other === conflict ? answered : other));
    this.#parts = null;
    return answered;
  }

  /** @param {Conflict} conflict */
  decided(conflict) {
    this.conflicts = this.conflicts.filter((other) => target(other) !== target(conflict));
    this.#parts = null;
  }

  /** The parts with everything that was done here, in the order of their steps. @returns {Part[]} */
  get parts() {
    let all = this.#parts;
    if (!all) {
      /** @type {Map<number, Part>} */
      const found = new Map(this.saved.map((part) => [part.step, { ...EMPTY, ...part }]));
      for (const edit of this.pending) apply(found, edit);
      for (const conflict of this.conflicts) if (conflict.field) apply(found, { ...conflict, after: conflict.mine });
      const parts = [...found.values()].sort((a, b) => this.placeOfStep(a.step) - this.placeOfStep(b.step));
      all = this.#parts = parts.map((part) => ({ ...part, mentions: anchored(part.mentions, found, part.step) }));
    }
    return all;
  }

  /** Where a step comes, from 0; NaN for one that is not of this document. @param {number} step */
  placeOfStep(step) {
    return this.places.get(step) ?? NaN;
  }

  /** @param {number} step */
  part(step) {
    return this.parts.find((part) => part.step === step);
  }

  /** First and last place (0-based) of a part's steps. @param {number} index @returns {[number, number]} */
  range(index) {
    const next = this.parts[index + 1];
    return [this.placeOfStep(this.parts[index].step), (next ? this.placeOfStep(next.step) : this.steps.length) - 1];
  }

  /** The part that a step (by its place) belongs to. @param {number} place */
  partAt(place) {
    return this.parts.findLastIndex((part) => this.placeOfStep(part.step) <= place);
  }

  /**
   * The edit that gives a part another text; null when it has it already.
   * @param {number} step
   * @param {string} field
   * @param {string} after
   * @param {number | null} proposal
   * @returns {Edit | null}
   */
  textEdit(step, field, after, proposal = null) {
    const before = this.part(step)?.[/** @type {"instruction" | "rewrite"} */ (field)];
    if (before === undefined || before === after) return null;
    return newEdit("text", step, { field, before, after, proposal });
  }

  /** The open question about a place; what is written there meanwhile is an answer to it, and no edit. @param {Edit} edit */
  conflictAt(edit) {
    return this.conflicts.find((conflict) => target(conflict) === target(edit));
  }

  /** @param {number} step @param {any[]} after @param {number | null} proposal */
  mentionsEdit(step, after, proposal = null) {
    return newEdit("mentions", step, { before: this.existing(step).mentions, after, proposal });
  }

  /** @param {number} step @param {{instruction?: string, rewrite?: string}} texts @param {number | null} proposal */
  cutEdit(step, { instruction = "", rewrite = "" } = {}, proposal = null) {
    return newEdit("cut", step, { after: { instruction, rewrite }, proposal });
  }

  /** @param {number} step @param {number | null} proposal */
  joinEdit(step, proposal = null) {
    const { instruction, rewrite, mentions } = this.existing(step);
    return newEdit("join", step, { before: { instruction, rewrite, mentions }, proposal });
  }

  /** The part that begins with a step, where there must be one. @param {number} step */
  existing(step) {
    const part = this.part(step);
    if (!part) throw new Error(`no part begins with step ${step}`);
    return part;
  }
}

/** What an edit changes: edits of one place are made one after the other. @param {{kind: string, step: number, field: string}} edit */
export function target({ kind, step, field }) {
  return kind === "cut" || kind === "join" ? `${step}` : `${step} ${field || "mentions"}`;
}

/**
 * @returns {Edit} with an id of its own, by which the server makes it once however often it is sent
 * @param {string} kind
 * @param {number} step
 * @param {Partial<Edit>} change
 */
export function newEdit(kind, step, { field = "", before = null, after = null, proposal = null }) {
  return { op_id: newId(), kind, step, field, before, after, proposal };
}

/** A random UUID; `crypto.randomUUID` is missing where the page came over plain HTTP from another machine. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** @param {Map<number, Part>} parts @param {Pick<Edit, "kind" | "step" | "field" | "after">} edit */
function apply(parts, { kind, step, field, after }) {
  const part = parts.get(step);
  if (kind === "cut" && !part) parts.set(step, { ...EMPTY, ...after, step });
  if (kind === "join") parts.delete(step);
  if (kind === "text" && part) parts.set(step, { ...part, [field]: after });
  if (kind === "mentions" && part) parts.set(step, { ...part, mentions: after });
}

/**
 * Mentions at the places that their words have now, as the server finds them.
 * @param {MarkedMention[]} mentions
 * @param {Map<number, Part>} parts
 * @param {number} step
 */
function anchored(mentions, parts, step) {
  const text = parts.get(step)?.rewrite ?? "";
  return mentions.map((mention) => {
    const antecedent =
      mention.antecedent && placed(mention.antecedent, parts.get(mention.antecedent.step)?.rewrite ?? "");
    return { ...placed(mention, text), antecedent };
  });
}

/**
 * The nearest place of the marked words; an ellipsis marks a point, which only moves to stay in the text.
 * @template {{text: string, start: number, end: number}} Marked
 * @param {Marked} marked
 * @param {string} text
 * @returns {Marked}
 */
function placed(marked, text) {
  const { text: said, start } = marked;
  if (!said) return { ...marked, start: Math.min(start, length(text)), end: Math.min(start, length(text)) };
  if (slice(text, start, marked.end) === said) return marked;
  let nearest = -1;
  for (let at = text.indexOf(said); at >= 0; at = text.indexOf(said, at + 1)) {
    const place = length(text.slice(0, at));
    if (nearest < 0 || Math.abs(place - start) < Math.abs(nearest - start)) nearest = place;
  }
  return nearest < 0 ? marked : { ...marked, start: nearest, end: nearest + length(said) };
}

// Places count characters, as the server does; strings here count UTF-16 units, of which an emoji has two.

/** @param {string} text */
export function length(text) {
  return Array.from(text).length;
}

/** @param {string} text @param {number} start @param {number} [end] */
export function slice(text, start, end) {
  return Array.from(text).slice(start, end).join("");
}

/** The place in characters of a place in UTF-16 units. @param {string} text @param {number} units */
export function placeOf(text, units) {
  return length(text.slice(0, units));
}

/** Who made the other edit of a place; "" where that is not known. @param {Edit} edit @param {{step: number, kind: string, field: string, who: string}[]} others */
function writer(edit, others) {
  return others.findLast((other) => target(other) === target(edit))?.who ?? others.at(-1)?.who ?? "";
}
