// Who drives a live episode: the agent, or a person who has stopped it. Stopping, acting in its place and handing back;
// a person who drives sees the window and acts in it. The database is the truth: of several people one has the lease.
import { amount, make } from "../shared/elements.js";
import { call, Refused } from "../shared/server.js";

/**
 * @typedef {{
 *   node_id: string,
 *   kind: string,
 *   value: string,
 *   options: string[] | null,
 *   left: number,
 *   top: number,
 *   width: number,
 *   height: number,
 * }} Field
 */
/**
 * @typedef {{
 *   url: string,
 *   instruction: string,
 *   width: number,
 *   height: number,
 *   fields: Field[],
 *   names: [string, string][],
 *   is_free?: boolean,
 * }} RemoteWindow
 */
/**
 * @typedef {{
 *   id: number,
 *   state: string,
 *   words: string,
 *   person: string,
 *   is_leased: boolean,
 *   shows: boolean,
 *   stands: boolean,
 *   until: string,
 *   number: number,
 *   window: RemoteWindow,
 *   proposed: string,
 *   typed: {waits: string, question: string, user: string},
 *   is_acting: boolean,
 * }} Drive
 */
/** @typedef {{dataset: string, url: string}} Kept */
/** @typedef {{operation: string, node_id?: string | null, value?: string, point?: [number, number] | null}} Wanted */

const BEAT_MS = 20000; // a lease outlasts two that are lost
export const OPERATIONS = ["CLICK", "TYPE", "SELECT", "PRESS", "HOVER", "SCROLL", "DRAG", "SAY", "STOP"];
const SCROLLED_MS = 250; // turns of a wheel within it are one

export class DriveBar {
  /**
   * @param {{bar: HTMLElement, remote: HTMLElement, work: Element}} roots
   * @param {{may: boolean, me: string, url: string, say: (text: string, stays?: boolean) => void, onChange: () => void}} options
   */
  constructor({ bar, remote, work }, options) {
    this.bar = bar;
    this.remote = remote;
    this.work = work;
    this.options = options;
    /** @type {Drive | null} */
    this.drive = null;
    this.token = "";
    this.shown = "";
    this.which = "";
    this.came = 0; // the episode that this window has come to show
    this.wheel = 0;
    this.wheeling = 0;
    window.setInterval(() => this.#left(), 1000);
    window.setInterval(() => this.#beat(), BEAT_MS);
  }

  /** Whether this window has the lease and may act. */
  get isDriving() {
    return this.drive?.state === "driven" && this.token !== "" && this.drive.person === this.options.me;
  }

  get isMine() {
    return this.drive !== null && this.token !== "" && this.drive.person === this.options.me;
  }

  /** Whether the agent waits for words of this person, who began the conversation, and nobody else acts in it. */
  get #awaitsMe() {
    const { drive, options } = this;
    return drive !== null && drive.typed.waits !== "" && drive.typed.user === options.me && drive.person === options.me;
  }

  /** The commands of the bar: [key, words, what it does]. @returns {[string, string, () => void][]} */
  get commands() {
    return [
      ["Space", "Pause the agent, or let it go on", () => this.#pauseOrGoOn()],
      ["t", "Take over", () => this.#do("take")],
      ["u", "Hand back, or say that it is done", () => this.#handBack()],
    ];
  }

  /**
   * @param {Drive | null} drive
   * @param {import("./store.js").ToldEpisode} episode
   */
  show(drive, { grows, awaits, waits, steps, byPeople, atEnd, kept }) {
    this.drive = drive;
    if (!drive) this.token = "";
    else if (drive.person === this.options.me && grows) this.#come(drive);
    const share = steps ? `human share ${byPeople} of ${amount(steps, "step")}` : "";
    const key = JSON.stringify([drive, grows, awaits, waits, share, this.token, atEnd, kept]);
    if (key === this.shown) return;
    this.shown = key;
    this.bar.hidden = !grows && !byPeople;
    if (!this.bar.hidden) this.#showBar(grows, awaits, waits, share, kept);
    this.#showRemote(atEnd);
  }

  /** Whoever began to show it acts in this window, without taking it over first; and while the agent waits for its user
   * to say something, it is seen that they are there. @param {Drive} drive */
  #come(drive) {
    const what = drive.shows ? "take" : this.#awaitsMe ? "pause" : "";
    if (!what || this.token || this.came === drive.id) return;
    this.came = drive.id;
    this.#do(what);
  }

  /** For the user of a conversation that a person types; whether it was taken. @param {string} what @param {string} [said] */
  async say(what, said = "") {
    if (!this.isMine) await this.#do("pause");
    return this.isMine && (await this.#do(what, { said }));
  }

  #handBack() {
    if (!this.isMine) return;
    if (this.#awaitsMe) this.options.say("The agent waits for words: say what is next, or end the conversation");
    else if (!this.drive?.shows) this.#do("back");
    else /** @type {HTMLElement | null} */ (this.remote.querySelector(".finish input"))?.focus();
  }

  /** @param {boolean} grows @param {string} awaits @param {string} waits @param {string} share @param {Kept | null} kept */
  #showBar(grows, awaits, waits, share, kept) {
    const { drive } = this;
    const who = !grows
      ? "Nobody drives"
      : this.#awaitsMe && !this.isDriving
        ? "The agent waits for you"
        : !drive
          ? awaits
            ? "Nobody drives yet"
            : "Agent drives"
          : this.isMine
            ? drive.state === "driven"
              ? `You ${drive.shows ? "show it" : "drive"}`
              : "You have paused the agent"
            : drive.words[0].toUpperCase() + drive.words.slice(1);
    const more = !drive
      ? waits
      : !drive.stands
        ? `as soon as ${drive.shows ? "a worker has opened the page" : "the agent stands still"}${waits && ` · ${waits}`}`
        : drive.is_acting
          ? waits || "acting…"
          : this.isDriving && this.#awaitsMe
            ? "say what is next when you are done"
            : drive.proposed
              ? `the agent would: ${drive.proposed}`
              : "";
    this.left = drive && (drive.stands || !drive.shows) ? make("span.tag.warn", {}, "") : null;
    const state = drive ? (drive.state === "driven" ? "person" : "paused") : grows ? "agent" : "over";
    this.bar.replaceChildren(
      make("i.dot", { "data-driver": state }),
      make("b", {}, who),
      kept && !grows
        ? make("a.link.clip", { href: kept.url, title: kept.dataset }, `Kept as a demonstration in ${kept.dataset}`)
        : make("span.muted.clip", { title: more }, more),
      make("span.grow"),
      make("span.faint", {}, share),
      ...(this.left ? [this.left] : []),
      ...(grows && this.options.may ? this.#buttons() : []),
    );
    this.#left();
  }

  #buttons() {
    const { drive } = this;
    if (drive && !this.isMine && drive.is_leased && drive.person !== this.options.me) return [];
    const take = this.#button("take", "Take over", "t", "primary");
    if (!drive) return [this.#button("pause", "Pause", "Space"), take];
    if (!this.isMine) return [take];
    if (drive.shows) return [this.#button("back", "Give up")];
    if (this.#awaitsMe) return this.isDriving ? [] : [take];
    return drive.state === "driven"
      ? [this.#button("back", "Hand back", "u", "primary")]
      : [this.#button("back", "Go on", "Space"), take];
  }

  /** @param {string} what @param {string} words @param {string} [key] @param {string} [look] */
  #button(what, words, key = "", look = "") {
    const made = make(look ? "button.btn.primary" : "button.btn", { type: "button", "data-drive": what }, words);
    if (key) made.append(" ", make("kbd", {}, key));
    made.addEventListener("click", () => this.#do(what));
    return made;
  }

  #left() {
    if (!this.drive || !this.left) return;
    const seconds = Math.max(0, Math.round((Date.parse(this.drive.until) - Date.now()) / 1000));
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    this.left.textContent = `ends in ${time}`;
    this.left.title =
      "The episode ends then, unless whoever stopped it does something. It is never handed back by time.";
  }

  #pauseOrGoOn() {
    if (!this.drive) this.#do("pause");
    else if (this.isMine && this.drive.state === "paused" && !this.#awaitsMe) this.#do("back");
  }

  #beat() {
    if (this.isMine) this.#do("beat", {}, true);
  }

  /** @param {string} what @param {Record<string, any>} [more] @param {boolean} [quiet] */
  async #do(what, more = {}, quiet = false) {
    if (!this.options.may) return false;
    let taken = true;
    try {
      const answer = await call(this.options.url, { do: what, token: this.token, ...more });
      this.token = answer.token ?? "";
    } catch (error) {
      if (error instanceof Refused && error.status === 409 && quiet) this.token = "";
      this.options.say(error.message, !quiet);
      taken = false;
      if (!quiet) this.remote.ariaBusy = null; // nothing comes of it: something else may be done
    }
    if (!quiet || !this.token) this.options.onChange();
    return taken;
  }

  /** @param {Wanted} action on the window that is shown */
  #act(action) {
    if (!this.isDriving || !this.drive || this.drive.is_acting || this.remote.ariaBusy === "true") return;
    this.remote.ariaBusy = "true";
    this.#editor?.remove();
    this.#do("act", { seen: this.drive.number, action: { node_id: null, value: "", point: null, ...action } });
  }

  /** @type {HTMLElement | null} */
  #editor = null;

  /** The window: to act in, for whoever drives; to look at, for everybody else, in the place of the page to come. @param {boolean} atEnd */
  #showRemote(atEnd) {
    const { drive } = this;
    const driving = this.isDriving && drive !== null && drive.stands;
    const seen = driving || (atEnd && drive !== null && drive.stands);
    this.work.classList.toggle("driven", driving);
    this.work.classList.toggle("watched", seen);
    this.remote.hidden = !seen;
    const which = seen ? `${drive?.id} ${drive?.number} ${driving}` : "";
    if (drive?.is_acting || which === this.which) return;
    this.which = which;
    this.remote.ariaBusy = null;
    if (!seen || !drive) return this.remote.replaceChildren();
    const had = this.remote.contains(document.activeElement);
    this.remote.replaceChildren(
      driving && drive.shows && drive.window.is_free
        ? this.#finish(drive.window)
        : make("p.instruction", {}, make("b", {}, "Asked for: "), drive.window.instruction),
      make("div.address.mono", {}, drive.window.url),
      this.#picture(drive, driving),
      ...(driving ? [this.#form(drive.window)] : []),
    );
    if (had) /** @type {HTMLElement | null} */ (this.remote.querySelector(".picture"))?.focus();
  }

  /** Where nobody but a person knows when it is done: in whose words. @param {RemoteWindow} page */
  #finish(page) {
    const words = make("input", {
      type: "text",
      maxlength: 2000,
      autocomplete: "off",
      placeholder: "as one would ask",
    });
    words.value = page.instruction;
    const form = make(
      "form.finish",
      {},
      make("label", {}, "What you show ", words),
      make("button.btn.primary", {}, "Done: keep it ", make("kbd", {}, "u")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#act({ operation: "STOP", value: words.value });
    });
    return form;
  }

  /** @param {Drive} drive @param {boolean} driving */
  #picture({ number, window: page }, driving) {
    const image = make("img", {
      src: `${this.options.url}window/?n=${number}`,
      alt: "The page of the episode; what can be done with the mouse can also be done with the fields below it",
      width: page.width,
      height: page.height,
      draggable: "false",
    });
    const frame = make("div.picture", { tabindex: -1 }, image);
    frame.style.aspectRatio = `${page.width} / ${page.height}`;
    frame.style.maxWidth = `${page.width * 2}px`;
    if (!driving) return frame;
    frame.classList.add("acted");
    image.addEventListener("click", (event) => {
      const x = Math.round((event.offsetX / image.clientWidth) * page.width);
      const y = Math.round((event.offsetY / image.clientHeight) * page.height);
      this.#act({ operation: "CLICK", point: [x, y] });
    });
    frame.addEventListener("wheel", (event) => this.#turned(event), { passive: false });
    for (const field of page.fields) frame.append(this.#field(field, page, frame));
    return frame;
  }

  /** @param {WheelEvent} event */
  #turned(event) {
    event.preventDefault();
    this.wheel += event.deltaY;
    window.clearTimeout(this.wheeling);
    this.wheeling = window.setTimeout(() => {
      const pixels = Math.round(this.wheel);
      this.wheel = 0;
      if (pixels) this.#act({ operation: "SCROLL", value: String(pixels) });
    }, SCROLLED_MS);
  }

  /** A field in the picture: a click on it opens what is written into it. @param {Field} field @param {RemoteWindow} page @param {HTMLElement} frame */
  #field(field, page, frame) {
    const what = field.options ? "Choose" : "Write";
    const shown = field.kind === "password" ? "" : field.value;
    const made = make("button.field", { type: "button", "aria-label": `${what}: ${shown || "an empty field"}` });
    place(made, field, page);
    made.addEventListener("click", () => this.#edit(field, page, frame));
    return made;
  }

  /** @param {Field} field @param {RemoteWindow} page @param {HTMLElement} frame */
  #edit(field, page, frame) {
    this.#editor?.remove();
    const input = field.options
      ? make("select", { "aria-label": "Choose" }, ...field.options.map((option) => make("option", {}, option)))
      : make("input", { type: "text", "aria-label": "Write", autocomplete: "off", spellcheck: "false" });
    input.value = field.value;
    const editor = make("form.editor", {}, input, make("button.btn.primary", {}, field.options ? "Choose" : "Write"));
    editor.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#act({ operation: field.options ? "SELECT" : "TYPE", node_id: field.node_id, value: input.value });
    });
    editor.addEventListener("keydown", (event) => {
      if (event.key === "Escape") editor.remove();
    });
    place(editor, { ...field, width: Math.max(field.width, page.width / 3) }, page);
    frame.append(editor);
    this.#editor = editor;
    input.focus();
    if (input instanceof HTMLInputElement) input.select();
  }

  /** Every action, by name: what a mouse cannot do, and for those who use none. @param {RemoteWindow} page */
  #form(page) {
    const operation = make(
      "select",
      { "aria-label": "Operation" },
      ...OPERATIONS.map((name) => make("option", {}, name)),
    );
    const element = make(
      "select",
      { "aria-label": "Element" },
      make("option", { value: "" }, "no element"),
      ...page.names.map(([node, name]) => make("option", { value: node }, name)),
    );
    const value = make("input", { type: "text", "aria-label": "Value", placeholder: "Value", autocomplete: "off" });
    const form = make("form.other", {}, operation, element, value, make("button.btn", {}, "Do"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#act({ operation: operation.value, node_id: element.value || null, value: value.value });
    });
    const keys = ["Enter", "Tab", "Escape"].map((key) => {
      const made = make("button.btn", { type: "button", title: `Press ${key} in the page` }, key);
      made.addEventListener("click", () => this.#act({ operation: "PRESS", value: key }));
      return made;
    });
    return make("div.row", {}, form, ...keys);
  }
}

/** @param {HTMLElement} element @param {{left: number, top: number, width: number, height: number}} box @param {RemoteWindow} page */
function place(element, box, page) {
  const share = (/** @type {number} */ part, /** @type {number} */ whole) => `${(100 * part) / whole}%`;
  Object.assign(element.style, {
    left: share(Math.min(box.left, page.width - box.width), page.width),
    top: share(box.top, page.height),
    width: share(box.width, page.width),
    height: share(box.height, page.height),
  });
}
