// What this page knows about a trajectory: the outline of its conversation, stored steps in short, and details of
// steps that were looked at. Rows may arrive twice and in any order.
import { milliseconds } from "../shared/elements.js";
import { call } from "../shared/server.js";

/** A stored step in short. @typedef {{seq: number, success: boolean | null, [name: string]: any}} StoredRow */
/** @typedef {{index: number, instruction: string, step_count: number}} TurnOutline */
/**
 * @typedef {{
 *   state: string,
 *   run_state: string,
 *   steps: StoredRow[],
 *   stored: number,
 *   turns?: TurnOutline[] | null,
 *   waits?: string,
 *   ends?: string,
 *   lost?: string,
 *   held?: import("./held.js").Held | null,
 *   drive?: import("./drive.js").Drive | null,
 *   kept?: import("./drive.js").Kept | null,
 * }} StoredSteps
 */
/**
 * An episode as its bar tells it. `awaits`: what must come before the agent drives; `waits`: for a worker, in words;
 * `ends`: how its user has ended it, though it is not stored yet; `lost`: why it is over that its user has not ended; `atEnd`: nothing earlier is looked at; `kept`: as a
 * demonstration.
 * @typedef {{
 *   grows: boolean,
 *   awaits: string,
 *   waits: string,
 *   ends: string,
 *   lost: string,
 *   steps: number,
 *   byPeople: number,
 *   atEnd: boolean,
 *   kept: import("./drive.js").Kept | null,
 * }} ToldEpisode
 */
/** @typedef {{at: number, stored: boolean, data: any, promise: Promise<any> | null}} StepView */
/** @typedef {"ok" | "bad" | "done" | "running" | "pending"} StepState */

/** What a live step without a page waits for, in words. */
const AWAITED = {
  worker: "Waits for a worker, which opens the browser.",
  agent: "The agent is being loaded; then the browser opens.",
  step: "This step is not decided yet: its page is shown then.",
  end: "The conversation is over. What its user said of it is stored as its last step when a worker closes the browser.",
};
const KEPT_DETAILS = 80;
const VIEW_SECONDS = 240; // signed page addresses live for at least five minutes

/** @param {string} words */
export function sentence(words) {
  return words && `${words[0].toUpperCase()}${words.slice(1)}.`;
}

export class ReplayStore {
  /** @param {{turns: TurnOutline[], progress: StoredSteps, url: string, together: number}} data `together`: how many
   * steps are decided at once, at most; they share their time equally */
  constructor(data) {
    this.url = data.url;
    this.together = data.together;
    /** @type {(TurnOutline & {first: number})[]} */
    this.turns = [];
    this.total = 0;
    this.#lay(data.turns);
    /** @type {Map<number, StoredRow>} */
    this.rows = new Map();
    /** @type {Map<number, StepView>} */
    this.views = new Map();
    this.state = this.runState = this.waits = this.ends = this.lost = "";
    /** @type {import("./held.js").Held | null} */
    this.held = null;
    /** @type {import("./drive.js").Drive | null} */
    this.drive = null;
    /** @type {import("./drive.js").Kept | null} */
    this.kept = null;
    this.merge(data.progress);
  }

  /** @param {TurnOutline[]} turns */
  #lay(turns) {
    this.turns = [];
    this.total = 0;
    for (const turn of turns) {
      this.turns.push({ ...turn, first: this.total });
      this.total += turn.step_count;
    }
  }

  /** What tells whether turns and steps lie as they did. */
  get outline() {
    return JSON.stringify(this.turns);
  }

  /** How long the agent took for a step, in words; "" where it decided others with it, as that says nothing of this one.
   * @param {{[name: string]: any} | null} row */
  took(row) {
    return row && !row.done_by && this.together === 1 ? milliseconds(row.milliseconds) : "";
  }

  /** What must come before the first step: a worker, or the agent that it loads; "" where nothing must. @returns {"worker" | "agent" | ""} */
  get awaits() {
    if (this.state !== "waiting" || this.isOver || this.isStopped) return "";
    return this.runState === "running" || this.runState === "done" ? "agent" : "worker";
  }

  /** What is waited for before the first step is decided, in words that stay true: since when, the bar above says. */
  get awaited() {
    return AWAITED[this.ends ? "end" : this.awaits || "step"];
  }

  /** Take stored steps and the state; returns the sequence numbers that are new. Of an episode `turns` tells how many
   * steps there are by now; where they are fewer than before, it has begun anew, and what was known is forgotten. @param {StoredSteps} stored */
  merge({ state, run_state: runState, waits, ends, lost, steps, stored, turns, held, drive, kept }) {
    if (turns) {
      this.#lay(turns);
      if (stored < this.rows.size) {
        this.rows.clear();
        this.views.clear();
      }
    }
    const added = [];
    for (const row of steps) {
      if (!this.rows.has(row.seq)) added.push(row.seq);
      this.rows.set(row.seq, row);
      if (!this.views.get(row.seq)?.stored) this.views.delete(row.seq); // it was read before the step was decided
    }
    this.state = state;
    this.runState = runState;
    this.waits = waits ?? "";
    this.ends = ends ?? "";
    this.lost = lost ?? "";
    this.held = held ?? null;
    this.drive = drive ?? null;
    this.kept = kept ?? null;
    return added;
  }

  /** @param {boolean} grows @param {boolean} atEnd @returns {ToldEpisode} */
  told(grows, atEnd) {
    const { awaits, waits, ends, lost, byPeople, kept } = this;
    return { grows, awaits, waits, ends, lost, steps: this.rows.size, byPeople, atEnd, kept };
  }

  /** The last step before the first gap: whoever asks from here on misses nothing. */
  get complete() {
    let seq = -1;
    while (this.rows.has(seq + 1)) seq += 1;
    return seq;
  }

  /** What is followed: an action that waits for a decision, with the page that it is to be done on, else the last step. */
  get end() {
    return this.held?.seq ?? Math.max(-1, ...this.rows.keys());
  }

  /** Nothing will come any more. */
  get isOver() {
    return this.state === "done" && this.complete + 1 >= this.total;
  }

  /** How many steps a person has done in the agent's place. */
  get byPeople() {
    return [...this.rows.values()].filter((row) => row.done_by).length;
  }

  get isStopped() {
    return this.state === "failed" || (["failed", "cancelled"].includes(this.runState) && this.state !== "done");
  }

  /** @param {number} seq */
  turnOf(seq) {
    return this.turns.findLast((turn) => turn.first <= seq) ?? this.turns[0];
  }

  /** The sequence number of a step by its place in the conversation; null when there is none. @param {number} turnIndex @param {number} stepIndex */
  place(turnIndex, stepIndex) {
    const turn = this.turns.find((one) => one.index === turnIndex);
    return turn && stepIndex < turn.step_count ? turn.first + stepIndex : null;
  }

  /** @param {number} seq @returns {StepState} */
  mark(seq) {
    const row = this.rows.get(seq);
    if (row) return row.success === null ? "done" : row.success ? "ok" : "bad";
    return !this.isStopped && this.state === "running" && seq === this.complete + 1 ? "running" : "pending";
  }

  /** The nearest failed step after (direction 1) or before (-1) a step; null when there is none. @param {number} seq @param {1 | -1} direction */
  failure(seq, direction) {
    const failed = [...this.rows.values()].filter((row) => row.success === false && (row.seq - seq) * direction > 0);
    return failed.length
      ? failed.map((row) => row.seq).reduce((a, b) => (Math.abs(b - seq) < Math.abs(a - seq) ? b : a))
      : null;
  }

  /** A step's record and page if they are at hand and its page address is still good. @param {number} seq */
  view(seq) {
    const view = this.views.get(seq);
    return view && performance.now() - view.at < VIEW_SECONDS * 1000 ? view : null;
  }

  /** Read a step's record and page addresses; one request however often it is asked for. @param {number} seq */
  load(seq) {
    const known = this.view(seq);
    if (known) return known.promise;
    /** @type {StepView} */
    const view = { at: performance.now(), stored: false, data: null, promise: null };
    view.promise = this.#read(seq).then(
      (data) => {
        view.data = data;
        view.stored = data.detail !== null;
        return data;
      },
      (error) => {
        if (this.views.get(seq) === view) this.views.delete(seq);
        throw error;
      },
    );
    this.views.delete(seq);
    this.views.set(seq, view);
    if (this.views.size > KEPT_DETAILS) this.views.delete(/** @type {number} */ (this.views.keys().next().value));
    return view.promise;
  }

  /** @param {number} seq */
  async #read(seq) {
    try {
      return await call(`${this.url}steps/${seq}/view/`, undefined, { cache: "default" });
    } catch (error) {
      throw new Error(`step ${seq + 1}: ${error.message}`, { cause: error });
    }
  }
}
