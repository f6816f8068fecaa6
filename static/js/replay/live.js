// Following a running trajectory. The socket only says that there is news; steps are read over HTTP, always from
// the first gap on, so lost, repeated or reordered nudges change nothing but how soon they are seen.
import { call, Refused, SignedOut, Unreachable } from "../shared/server.js";

const POLL_MS = 5000; // also with an open socket: the last nudge may be the one that is lost
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30000;
const WATCHED_MS = 900; // a step that somebody watches is looked at for so long, however fast the next is decided
const NOT_ALLOWED = [4403, 4404];

export class LiveFeed {
  /**
   * @param {import("./store.js").ReplayStore} store
   * @param {{socket: string, steps: string, age: number | null, watched: boolean}} options `age`: seconds since the
   * newest step; `watched`: steps are shown one after the other, from the first on
   * @param {{onSteps: (added: number[]) => void, onStatus: (text: string, kind: string) => void}} handlers
   */
  constructor(store, { socket, steps, age, watched }, { onSteps, onStatus }) {
    this.store = store;
    this.socketUrl = socket;
    this.stepsUrl = steps;
    this.onSteps = onSteps;
    this.onStatus = onStatus;
    this.newestAt = age === null ? null : performance.now() - age * 1000;
    this.askedAt = performance.now();
    this.watched = watched;
    this.shownAt = -WATCHED_MS;
    this.retries = 0;
    this.open = false;
    this.tried = false; // once a connection was open, or could not be opened
    this.lost = "";
    this.unreachable = false;
    this.asking = this.askAgain = false;
  }

  start() {
    this.#show();
    if (this.store.isOver) return;
    this.#connect();
    this.timer = window.setInterval(() => this.#tick(), 1000);
  }

  #connect() {
    this.socket = new WebSocket(this.socketUrl);
    this.socket.addEventListener("open", () => {
      this.open = this.tried = true;
      this.retries = 0;
      this.ask(); // what happened while nobody listened
    });
    this.socket.addEventListener("message", () => this.ask());
    this.socket.addEventListener("close", (event) => this.#closed(event.code));
  }

  /** @param {number} code */
  #closed(code) {
    this.open = false;
    this.tried = true;
    if (this.store.isOver || this.lost) return;
    this.#show();
    if (NOT_ALLOWED.includes(code)) this.ask(); // the answer to a request says it for good
    const wait = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.retries) * (0.75 + Math.random() / 2);
    this.retries += 1;
    window.setTimeout(() => !this.lost && !this.store.isOver && this.#connect(), wait);
  }

  #tick() {
    // A tab that nobody looks at does not poll; nudges still reach it.
    if (!document.hidden && performance.now() - this.askedAt >= POLL_MS) this.ask();
    this.#show();
  }

  /** Read everything from the first gap on; while an answer is under way, once more after it. */
  async ask() {
    if (this.lost) return;
    if (this.asking) {
      this.askAgain = true;
      return;
    }
    this.asking = true;
    try {
      do {
        this.askAgain = false;
        this.askedAt = performance.now();
        await this.#read();
      } while (this.askAgain && !this.lost);
    } finally {
      this.asking = false;
    }
  }

  /** Of what is stored the next step alone, once the one before was looked at; the others are asked for again. @param {import("./store.js").StoredSteps} answer */
  #nextOf(answer) {
    if (!answer.steps.length) return answer;
    const wait = this.shownAt + WATCHED_MS - performance.now();
    const steps = wait > 0 ? [] : answer.steps.slice(0, 1);
    if (steps.length) this.shownAt = performance.now();
    window.clearTimeout(this.next);
    if (answer.steps.length > steps.length)
      this.next = window.setTimeout(() => this.ask(), wait > 0 ? wait : WATCHED_MS);
    return { ...answer, steps };
  }

  async #read() {
    try {
      const answer = await call(`${this.stepsUrl}?after=${this.store.complete}`, undefined, { cache: "default" });
      const added = this.store.merge(this.watched ? this.#nextOf(answer) : answer);
      this.unreachable = false;
      if (added.length) this.newestAt = performance.now();
      this.onSteps(added);
      if (this.store.isOver) this.#end();
    } catch (error) {
      this.#fail(error);
    }
    this.#show();
  }

  /** @param {Error} error what the server did instead of giving steps */
  #fail(error) {
    this.unreachable = error instanceof Unreachable || (error instanceof Refused && error.isPassing);
    if (error instanceof SignedOut) this.#stop("signed out");
    else if (error instanceof Refused && [403, 404].includes(error.status)) this.#stop("no longer visible to you");
    else if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
  }

  /** @param {string} why no more steps will come */
  #stop(why) {
    this.lost = why;
    this.#end();
  }

  #end() {
    window.clearInterval(this.timer);
    this.socket?.close();
  }

  #show() {
    const { store } = this;
    if (this.lost) return this.onStatus(this.lost, "bad");
    if (store.lost) return this.onStatus("browser lost", "bad");
    if (store.isOver) return this.onStatus("finished", "done");
    if (store.isStopped) return this.onStatus(store.runState === "cancelled" ? "cancelled" : "stopped: failed", "bad");
    if (!this.open && this.unreachable) return this.onStatus("server not reachable, trying again", "warn");
    if (!this.tried) return this.onStatus("connecting…", "running");
    if (!this.open) return this.onStatus("reconnecting…, polling", "warn");
    if (store.state === "done") return this.onStatus("as it was decided", "running");
    if (store.ends) return this.onStatus("ended", "done");
    if (store.awaits === "agent") return this.onStatus("live · loading the agent", "running");
    if (store.awaits === "worker") return this.onStatus(`live · ${store.waits || "waits for a worker"}`, "running");
    if (store.waits) return this.onStatus(`live · ${store.waits}`, "running");
    this.onStatus(this.newestAt === null ? "live" : `live · ${ago(performance.now() - this.newestAt)}`, "running");
  }
}

/** @param {number} ms */
function ago(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds < 1) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3600)} h ago`;
}
