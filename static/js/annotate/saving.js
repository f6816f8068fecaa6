// Autosave: edits go into the journal at once and to the server soon; whatever happens in between, none is dropped.
import { call, Refused, SignedOut, Unreachable } from "../shared/server.js";
import { target } from "./document.js";

const SOON_MS = 250;
const EXTENDED_MS = 3000; // typing goes on in the same edit for so long, if that was not sent
const BACKOFF_MS = [1000, 2000, 4000, 8000, 15_000];
const SIGNED_OUT_MS = 3000; // the answer costs the server nothing, and somebody is waiting for it
const HEARTBEAT_MS = 20_000;
const IDLE_MS = 5 * 60_000; // whoever does nothing for so long lets the lease run out

/** @typedef {"loading" | "saved" | "waiting" | "saving" | "offline" | "signed_out" | "lost" | "closed" | "failing"} Kind */
/** @typedef {import("./journal.js").Edit} Edit */
/** @typedef {{kind: Kind, at?: string | null, holder?: string | null, why?: string}} Status */

/**
 * @typedef {{
 *   document: import("./document.js").AnnotationDocument,
 *   journal: import("./journal.js").Journal,
 *   url: string,
 *   user: string,
 * }} SavedWork
 */

export class Saver {
  /** @type {Status} */
  status = { kind: "loading" };
  /** The token of the lease; null while somebody else has it. @type {string | null} */
  token = null;
  /** Called after each change of the status. */
  onStatus = (/** @type {Status} */ _status) => {};
  /** Called when the document has changed by an answer: ({conflicts, others}). */
  onAnswer = (/** @type {{conflicts: import("./journal.js").Conflict[], others: any[]}} */ _answer) => {};

  #document;
  #journal;
  #url;
  #timer = 0;
  #failures = 0;
  /** @type {Promise<void> | null} */
  #sending = null;
  /** @type {import("./journal.js").Edit[]} the edits of the request that is to be answered; sent again as it is */
  #batch = [];
  /** The last edit of typing, and when it began. */
  #typed = { edit: /** @type {Edit | null} */ (null), at: 0 };
  #active = Date.now();

  /** @param {SavedWork} options url: of the annotation; user: the name of who is signed in */
  constructor({ document, journal, url, user }) {
    this.user = user;
    this.#document = document;
    this.#journal = journal;
    this.#url = url;
  }

  /** Begin, with the edits that the journal had kept from before. @param {Edit[]} kept */
  start(kept) {
    this.token = this.#document.about.token;
    for (const edit of kept) this.#document.add(edit);
    this.#batch = kept.length ? this.#next() : []; // as it was sent, perhaps: it must not be changed any more
    this.#setStatus({ kind: "saved", at: null });
    if (kept.length) this.#soon(0);
    window.setInterval(() => this.#beat(), HEARTBEAT_MS);
    window.addEventListener("online", () => this.now());
    window.addEventListener("focus", () => this.status.kind === "signed_out" && this.now());
    for (const type of ["pointerdown", "keydown"])
      window.addEventListener(type, () => this.#wake(), { passive: true, capture: true });
  }

  /** Nothing can be written: somebody else's, or submitted. @param {string} why @param {string | null} holder */
  close(why, holder = null) {
    this.#setStatus({ kind: "closed", why, holder });
  }

  get unsent() {
    return this.#document.pending.length;
  }

  /** Make an edit: kept here now, sent soon. Resolves when it is in the journal. @param {import("./journal.js").Edit | null} edit */
  add(edit, { typing = false } = {}) {
    if (!edit) return Promise.resolve();
    const open = this.#document.conflictAt(edit);
    if (open) return this.#journal.settle([], [this.#document.answer(open, edit.after)]);
    const replaced = typing ? this.#extended(edit) : null;
    if (replaced) {
      this.#document.drop(replaced);
      edit.before = replaced.before;
    }
    if (edit.kind === "text" && edit.before === edit.after)
      return this.#journal.settle(replaced ? [replaced.op_id] : []);
    this.#document.add(edit);
    this.#typed = { edit: typing ? edit : null, at: replaced ? this.#typed.at : performance.now() };
    const kept = this.#journal.add(edit, replaced);
    if (!["offline", "signed_out", "lost", "closed", "failing"].includes(this.status.kind))
      this.#setStatus({ kind: "waiting" });
    else this.onStatus(this.status);
    this.#soon(SOON_MS);
    return kept;
  }

  /** Send what there is without waiting any longer; resolves after the answer. True when nothing is left. */
  async now() {
    window.clearTimeout(this.#timer);
    this.#failures = 0;
    await this.#send();
    return this.unsent === 0;
  }

  /** The page is being left: one last try, which outlives it. The journal has everything in any case. */
  leave() {
    if (!this.unsent || !this.token) return;
    const edits = this.#batch.length ? this.#batch : this.#next();
    this.#typed.edit = null; // it may have arrived, so typing that goes on is another edit
    call(`${this.#url}edits/`, this.#body(edits), { keepalive: true }).catch(() => {});
  }

  /** @param {"undo" | "redo"} which */
  async undo(which) {
    if (!(await this.now())) return which === "undo" && this.#takeBack();
    return this.#run(async () => {
      const answer = await call(`${this.#url}${which}/`, { base: this.#document.version, token: this.token });
      this.#answered(answer, []);
    });
  }

  /**
   * The person's decision: `edits` put it into the document, none leaves the server's.
   * @param {import("./journal.js").Conflict} conflict
   * @param {Edit[]} edits
   */
  async decide(conflict, edits) {
    this.#document.decided(conflict);
    for (const edit of edits) this.#document.add(edit);
    if (edits.length && this.status.kind === "saved") this.#setStatus({ kind: "waiting" });
    await this.#journal.decide(conflict, edits);
    this.#soon(0);
  }

  /** Ask for the lease, which somebody else may have. True when it is ours. */
  async takeOver() {
    const taken = await this.#run(async () => {
      const { token } = await call(`${this.#url}take/`, {});
      this.token = token;
      this.#document.load(await call(`${this.#url}document/`));
      this.onAnswer({ conflicts: [], others: [] });
      this.#setStatus({ kind: "saved", at: null });
    });
    if (taken) await this.now();
    return taken;
  }

  /** Calls that are none of edits: POST to a path below the annotation. Rejects as `call` does. @param {string} path @param {Record<string, any>} body */
  post(path, body = {}) {
    return call(`${this.#url}${path}`, { token: this.token, base: this.#document.version, ...body });
  }

  /** Everything again from the server: new addresses of pages, what others did. */
  async reload() {
    this.#document.load(await call(`${this.#url}document/`));
  }

  /** @param {number} ms */
  #soon(ms) {
    window.clearTimeout(this.#timer);
    if (this.status.kind === "closed" || (this.status.kind === "lost" && ms)) return;
    this.#timer = window.setTimeout(() => this.#send(), ms);
  }

  /** The unsent edit that this typing goes on with; edits that may have been sent are never changed. @param {Edit} edit */
  #extended(edit) {
    const { edit: last, at } = this.#typed;
    const goesOn =
      last &&
      target(last) === target(edit) &&
      last === this.#document.pending.at(-1) &&
      performance.now() - at < EXTENDED_MS;
    return goesOn && !this.#batch.includes(last) ? last : null;
  }

  /** What is sent next: edits in order, each place once, so that each is made on the answer to the one before. */
  #next() {
    const seen = new Set();
    const structure = (/** @type {Edit} */ { kind }) => kind === "cut" || kind === "join";
    const batch = [];
    for (const edit of this.#document.pending) {
      const taken = structure(edit)
        ? [...seen].some((one) => one.startsWith(`${edit.step} `) || one === `${edit.step}`)
        : seen.has(target(edit)) || seen.has(`${edit.step}`);
      if (taken) break;
      seen.add(target(edit));
      batch.push(edit);
    }
    return batch;
  }

  #send() {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #sendAll() {
    while (this.unsent && this.status.kind !== "closed") {
      if (!this.#batch.length) this.#batch = this.#next();
      const waits = ["offline", "signed_out", "failing", "lost"].includes(this.status.kind);
      if (!waits) this.#setStatus({ kind: "saving" });
      const sent = await this.#run(async () => {
        const answer = await call(`${this.#url}edits/`, this.#body(this.#batch));
        this.#answered(answer, this.#batch);
      });
      if (!sent) return;
    }
  }

  /** @param {Edit[]} edits */
  #body(edits) {
    return { base: this.#document.version, token: this.token, edits };
  }

  /** @param {Record<string, any>} answer @param {Edit[]} sent */
  #answered(answer, sent) {
    const found = this.#document.take(answer, sent);
    this.#batch = [];
    this.#failures = 0;
    this.#journal.settle(
      [...sent.map((edit) => edit.op_id), ...found.conflicts.flatMap((one) => one.replaces)],
      found.conflicts.map(({ replaces: _, ...conflict }) => conflict),
    );
    this.#setStatus(this.unsent ? { kind: "saving" } : { kind: "saved", at: answer.saved_at ?? null });
    this.onAnswer(found);
  }

  /**
   * Run a call, and make of its failure what it means. True when it went well.
   * @param {() => Promise<void>} work
   * @returns {Promise<boolean>}
   */
  async #run(work) {
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof Unreachable) this.#retry({ kind: "offline" });
      else if (error instanceof SignedOut) this.#retry({ kind: "signed_out" });
      else if (error instanceof Refused) return this.#refused(error, work);
      else throw error;
      return false;
    }
  }

  /** @param {Refused} refusal @param {() => Promise<void>} work @returns {Promise<boolean>} */
  async #refused({ status, body, message }, work) {
    if (status === 409 && body.code === "refused") {
      this.#setStatus(
        body.holder ? { kind: "lost", holder: body.holder, why: message } : { kind: "closed", why: message },
      );
    } else if (status === 409 && (body.code === "lease_lost" || body.code === "taken_over")) {
      const isFree = !body.holder || body.holder === this.user;
      if (isFree && this.#failures < BACKOFF_MS.length) {
        this.#failures += 1;
        return this.#run(async () => {
          this.token = (await call(`${this.#url}take/`, {})).token;
          await work();
        });
      }
      this.#setStatus({ kind: "lost", holder: body.holder ?? null });
    } else if (status === 404 && this.status.kind === "lost") {
      this.onStatus(this.status); // others' work is not shown while they are at it; it can still be asked for
    } else if (status === 404 || (status === 409 && body.code)) {
      this.#setStatus({ kind: "closed", why: body.code ?? "gone", holder: body.holder ?? null });
    } else if ((status === 400 || status === 422) && this.#batch.length) {
      return this.#single(message);
    } else {
      this.#retry({ kind: "failing", why: message });
    }
    return false;
  }

  /** One of the edits cannot be made whatever we do: send them one by one, and let the person decide about that one. @param {string} why */
  #single(why) {
    if (this.#batch.length > 1) {
      this.#batch = this.#batch.slice(0, 1);
      return true;
    }
    const { replaces, ...conflict } = this.#document.refuse(this.#batch[0], why);
    this.#batch = [];
    this.#journal.settle(replaces, [conflict]);
    this.#setStatus({ kind: this.unsent ? "saving" : "saved", at: null });
    this.onAnswer({ conflicts: [conflict], others: [] });
    return true;
  }

  /** @param {Status} status */
  #retry(status) {
    const wait =
      status.kind === "signed_out" ? SIGNED_OUT_MS : BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)];
    this.#failures += 1;
    this.#setStatus(status);
    window.clearTimeout(this.#timer);
    if (this.unsent) this.#timer = window.setTimeout(() => this.#send(), wait);
    else this.#timer = window.setTimeout(() => this.#beat(), wait);
  }

  /** Without the server only what it has never seen can be taken back. */
  #takeBack() {
    const newest = this.#document.newest;
    if (!newest.length || newest.some((edit) => this.#batch.includes(edit))) return false;
    for (const edit of newest) this.#document.drop(edit);
    this.#journal.settle(newest.map((edit) => edit.op_id));
    this.onStatus(this.status);
    this.onAnswer({ conflicts: [], others: [] });
    return true;
  }

  #wake() {
    const slept = Date.now() - this.#active > IDLE_MS;
    this.#active = Date.now();
    if (slept) this.#beat();
  }

  /** Keep the lease, or learn who has it; also how being online again is noticed when there is nothing to send. */
  async #beat() {
    if (this.status.kind === "closed" || Date.now() - this.#active > IDLE_MS) return;
    if (!this.token && this.status.kind !== "lost") return;
    await this.#run(async () => {
      const { held, holder } = await call(`${this.#url}lease/`, { token: this.token });
      this.#failures = 0;
      if (held && ["offline", "signed_out", "failing", "lost"].includes(this.status.kind))
        this.#setStatus({ kind: "saved", at: null });
      if (!held && holder && holder !== this.user) this.#setStatus({ kind: "lost", holder });
      else if (!held && this.status.kind === "lost") this.#setStatus({ kind: "lost", holder: null });
      else if (!held) this.token = (await call(`${this.#url}take/`, {})).token;
      if (this.unsent && this.status.kind !== "lost") this.#soon(0);
    });
  }

  /** @param {Status} status */
  #setStatus(status) {
    if (status.kind === "saved" && status.at === null) status.at = this.status.at ?? null;
    this.status = status;
    this.onStatus(status);
  }
}
