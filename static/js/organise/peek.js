// The recorded pages of the row under the cursor, as small pictures: of a task, or of each task of a proposal or session.
// Only what the cursor rests on is read, a few pages at a time, so that a long list costs nothing.
import { amount, make, the } from "../shared/elements.js";
import { call } from "../shared/server.js";

/** @typedef {import("./rows.js").Task} Task */
/** @typedef {{task: number, page: number, pages: number, did: string, still: string}} PagePeek */

const MOST = 4; // tasks that are shown together, as the server has it
const RESTS_MS = 120; // a cursor that is on its way asks for nothing
const FRESH_MS = 240_000; // addresses of pages are good for at least five minutes
const HINT = "Go to a task, a proposal or a session: its recorded pages are shown here.";

export class Peek {
  /** What the row under the cursor stands for. @type {number[]} */
  #ids = [];
  /** What is shown, so that nothing is drawn twice. */
  #drawn = "";
  #page = 0;
  #last = 0;
  #turn = 0;
  #waiting = 0;
  /** By task and page. @type {Map<string, {peek: PagePeek, at: number}>} */
  #known = new Map();

  /** @param {string} url where pages are asked for @param {Map<number, Task>} tasks */
  constructor(url, tasks) {
    this.url = url;
    this.tasks = tasks;
    this.pane = the(document, "#peek");
    this.list = the(document, "#peeks");
    this.toggle = the(document, "#peek-toggle");
    this.back = /** @type {HTMLButtonElement} */ (the(document, "#peek-back"));
    this.on = /** @type {HTMLButtonElement} */ (the(document, "#peek-on"));
    this.toggle.addEventListener("click", () => this.#open(this.pane.hidden === true));
    this.back.addEventListener("click", () => this.#go(-1));
    this.on.addEventListener("click", () => this.#go(1));
  }

  /** The cursor is on a row of these tasks. @param {number[]} ids */
  look(ids) {
    if (ids.join() === this.#ids.join()) return;
    this.#ids = ids;
    this.#page = 0;
    this.#read(RESTS_MS);
  }

  /** @param {boolean} isOpen */
  #open(isOpen) {
    this.pane.hidden = !isOpen;
    this.pane.parentElement?.classList.toggle("peeking", isOpen);
    this.toggle.setAttribute("aria-pressed", String(isOpen));
    if (isOpen) this.#read(0);
  }

  /** @param {number} by */
  #go(by) {
    if (this.pane.hidden) return this.#open(true);
    this.#page = Math.max(0, Math.min(this.#last, this.#page + by));
    return this.#read(0);
  }

  /** @param {number} wait */
  #read(wait) {
    window.clearTimeout(this.#waiting);
    if (!this.pane.hidden) this.#waiting = window.setTimeout(() => this.#show(), wait);
  }

  async #show() {
    const turn = ++this.#turn;
    const ids = this.#ids.slice(0, MOST);
    try {
      const peeks = ids.length ? await this.#peeks(ids, this.#page) : [];
      if (turn === this.#turn) this.#draw(peeks);
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#drawn = "";
      this.list.replaceChildren(make("p.more", {}, `The pages cannot be read: ${error.message}.`));
    }
  }

  /** @param {number[]} ids @param {number} page @returns {Promise<PagePeek[]>} */
  async #peeks(ids, page) {
    const key = (/** @type {number} */ id) => `${id} ${page}`;
    const since = performance.now() - FRESH_MS;
    const missing = ids.filter((id) => (this.#known.get(key(id))?.at ?? -Infinity) < since);
    if (missing.length) {
      const { pages } = await call(`${this.url}?tasks=${missing.join()}&page=${page}`);
      for (const peek of pages) this.#known.set(key(peek.task), { peek, at: performance.now() });
    }
    return ids.flatMap((id) => this.#known.get(key(id))?.peek ?? []);
  }

  /** @param {PagePeek[]} peeks */
  #draw(peeks) {
    this.#last = Math.max(0, ...peeks.map(({ pages }) => pages - 1));
    this.back.disabled = this.#page === 0;
    this.on.disabled = this.#page >= this.#last;
    const more = this.#ids.length - MOST;
    const drawn = JSON.stringify([peeks, more]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.list.replaceChildren(...peeks.map((peek) => this.#figure(peek)));
    if (!peeks.length) this.list.append(make("p.more", {}, HINT));
    if (more > 0) this.list.append(make("p.more", {}, `${amount(more, "task")} more: go to one of them.`));
  }

  /** @param {PagePeek} peek */
  #figure({ task, page, pages, did, still }) {
    const said = this.tasks.get(task)?.text ?? "";
    const picture = make("div.thumb", { inert: true });
    if (still) {
      // Without scripts and forms, and of an origin of its own: pages are hostile.
      const how = { sandbox: true, loading: "lazy", tabindex: "-1", title: `A page of: ${said}` };
      picture.append(make("iframe", { ...how, src: still }));
    } else picture.append(make("p.more", {}, "The source recorded no page for this step."));
    const place = pages ? `page ${page + 1} of ${pages}` : "no steps";
    return make(
      "figure",
      {},
      make(
        "figcaption",
        {},
        make("span.said", { title: said }, said),
        make("span.faint", { title: did }, place, did && ` · ${did}`),
      ),
      picture,
    );
  }
}
