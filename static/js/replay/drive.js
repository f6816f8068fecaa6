// Who drives a live episode: the agent, or a person who has stopped it. Stopping, acting in its place and handing back;
// a person who drives sees the window and acts in it. The database is the truth: of several people one has the lease.
import { amount, make } from "../shared/elements.js";
import { call, Refused, Unreachable } from "../shared/server.js";
import { sentence } from "./store.js";
import { RemoteWindow } from "./window.js";

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
 *   window: import("./window.js").SeenWindow,
 *   proposed: string,
 *   typed: {waits: string, question: string, user: string},
 *   is_acting: boolean,
 * }} Drive
 */
/** @typedef {{dataset: string, split: string, url: string}} Kept */
/**
 * `again`: where the conversation is begun anew; "" for who may not.
 * @typedef {{
 *   may: boolean,
 *   me: string,
 *   url: string,
 *   again: string,
 *   say: (text: string, stays?: boolean) => void,
 *   onChange: () => void,
 * }} DriveOptions
 */

const BEAT_MS = 20000; // a lease outlasts two that are lost

export class DriveBar {
  /**
   * @param {{bar: HTMLElement, remote: HTMLElement, work: Element}} roots
   * @param {DriveOptions} options
   */
  constructor({ bar, remote, work }, options) {
    this.bar = bar;
    this.window = new RemoteWindow(remote, { url: options.url, act: (action) => this.#act(action) });
    this.work = work;
    this.options = options;
    /** @type {Drive | null} */
    this.drive = null;
    this.token = "";
    this.shown = "";
    this.came = 0; // the episode that this window has come to show
    this.isComing = false; // it is about to have the lease of what its person shows
    this.isOver = this.isCutOff = false;
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
  show(drive, episode) {
    const { grows, ends, lost, steps, byPeople, atEnd } = episode;
    this.drive = drive;
    if (this.isCutOff) this.options.say(""); // the server has answered again
    this.isCutOff = false;
    this.isOver = !grows || ends !== "" || lost !== "";
    if (!drive || lost) this.token = "";
    else if (drive.person === this.options.me && grows) this.#come(drive);
    const share = steps ? `human share ${byPeople} of ${amount(steps, "step")}` : "";
    const key = JSON.stringify([drive, episode, this.token, this.isComing]);
    if (key === this.shown) return;
    this.shown = key;
    this.bar.hidden = !grows && !byPeople && !lost;
    if (!this.bar.hidden) this.#showBar(episode, share);
    this.#showWindow(atEnd);
  }

  /** Whoever began to show it acts in this window, without taking it over first; and while the agent waits for its user
   * to say something, it is seen that they are there. @param {Drive} drive */
  #come(drive) {
    const what = drive.shows ? "take" : this.#awaitsMe ? "pause" : "";
    if (!what || this.token || this.came === drive.id) return;
    this.came = drive.id;
    this.isComing = drive.shows;
    this.#do(what).finally(() => (this.isComing = false));
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
    else this.window.focusWords();
  }

  /** Who drives, in words. @param {import("./store.js").ToldEpisode} episode */
  #who({ grows, ends, lost, awaits }) {
    const { drive } = this;
    if (lost) return "The conversation is over";
    if (!grows) return "Nobody drives";
    if (ends) return "The conversation is over";
    if (this.#awaitsMe && !this.isDriving) return "The agent waits for you";
    if (!drive) return awaits ? "Nobody drives yet" : "Agent drives";
    if (!this.isMine && !this.isComing) return sentence(drive.words).slice(0, -1);
    if (drive.state !== "driven") return "You have paused the agent";
    return `You ${drive.shows ? "show it" : "drive"}`;
  }

  /** What comes next, in words. @param {import("./store.js").ToldEpisode} episode */
  #more({ ends, lost, waits }) {
    const { drive } = this;
    if (lost) return lost;
    if (ends) return `${ends} · stored when a worker closes the browser${waits && ` · ${waits}`}`;
    if (!drive) return waits;
    if (!drive.stands) {
      const when = drive.shows ? "a worker has opened the page" : "the agent stands still";
      return `as soon as ${when}${waits && ` · ${waits}`}`;
    }
    if (drive.is_acting) return waits || "acting…";
    if (this.isDriving && this.#awaitsMe) return "say what is next when you are done";
    return drive.proposed && !waits ? `the agent would: ${drive.proposed}` : waits;
  }

  /** @param {import("./store.js").ToldEpisode} episode @param {string} share */
  #showBar(episode, share) {
    const { drive } = this;
    const { kept, grows, lost } = episode;
    const more = this.#more(episode);
    // While a worker is to go on, nobody's time runs.
    this.left = drive?.stands && !drive.is_acting && !lost ? make("span.tag.warn", {}, "") : null;
    const state = lost
      ? "over"
      : drive
        ? drive.state === "driven"
          ? "person"
          : "paused"
        : this.isOver
          ? "over"
          : "agent";
    this.bar.replaceChildren(
      make("i.dot", { "data-driver": state }),
      make("b", {}, this.#who(episode)),
      ...(kept && !grows ? this.#keptIn(kept) : [make("span.muted.clip", { title: more }, more)]),
      make("span.grow"),
      make("span.faint", {}, share),
      ...(this.left ? [this.left] : []),
      ...(this.options.may && !this.isOver ? this.#buttons() : []),
      ...(lost && this.options.again ? [this.#beginAgain()] : []),
    );
    this.#left();
  }

  /** Where it is kept, and whether trainings take it there. @param {Kept} kept */
  #keptIn({ dataset, split, url }) {
    const said = `in its ${split} split, which trainings ${split === "train" ? "take" : "leave out"}`;
    return [
      make("a.link.clip", { href: url, title: dataset }, `Kept as a demonstration in ${dataset}`),
      make("span.muted.clip", { title: said }, said),
    ];
  }

  #buttons() {
    const { drive } = this;
    if (this.isComing) return [];
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

  /** The same conversation anew, as the browser of this one is lost. */
  #beginAgain() {
    const made = make("button.btn.primary", { type: "button" }, "Begin again");
    made.addEventListener("click", async () => {
      made.disabled = true;
      try {
        location.assign((await call(this.options.again, {})).url);
      } catch (error) {
        this.options.say(error.message, true);
        made.disabled = false;
      }
    });
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
      this.isCutOff = error instanceof Unreachable;
      taken = false;
      if (!quiet) this.window.isBusy = false; // nothing comes of it: something else may be done
    }
    if (!quiet || !this.token) this.options.onChange();
    return taken;
  }

  /** @param {import("./window.js").Wanted} action on the window that is shown */
  #act(action) {
    if (!this.isDriving || !this.drive || this.drive.is_acting || this.window.isBusy) return false;
    this.window.isBusy = true;
    this.#do("act", { seen: this.drive.number, action: { node_id: null, value: "", point: null, ...action } });
    return true;
  }

  /** The window: to act in, for whoever drives; to look at, for everybody else, in the place of the page to come. @param {boolean} atEnd */
  #showWindow(atEnd) {
    const { drive } = this;
    const driving = this.isDriving && drive !== null && drive.stands;
    const seen = driving || (atEnd && !this.isOver && drive !== null && drive.stands);
    this.work.classList.toggle("driven", driving);
    this.work.classList.toggle("watched", seen);
    this.window.show(seen ? drive : null, driving);
  }
}
