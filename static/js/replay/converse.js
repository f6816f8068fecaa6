// What the person who types for the user says to the agent: the next instruction, an answer, or that it is over.
import { make } from "../shared/elements.js";
import { sentence } from "./store.js";

/** @typedef {import("./drive.js").Drive} Drive */

const AT_IT = "The agent is at it. Space stops it.";

export class ConverseBox {
  /** @param {HTMLElement} root @param {import("./drive.js").DriveBar} bar
   * @param {{me: string, unsaid: string, again_url: string}} told `unsaid`: what was typed elsewhere and is to be said,
   * or not, here; `again_url`: for the person alone who began the talk */
  constructor(root, bar, { me, unsaid, again_url: again }) {
    this.bar = bar;
    this.me = me;
    this.began = Boolean(again);
    this.due = ""; // what the user is asked for, and has the keys for
    this.question = make("p.question", { role: "status" });
    this.input = make("input", { type: "text", maxlength: 2000, autocomplete: "off", "aria-label": "Say as the user" });
    this.input.value = unsaid;
    this.send = make("button.btn.primary", {}, "Say");
    this.form = make("form.row", {}, this.input, this.send);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#say();
    });
    this.ends = [this.#end("content", "All was done"), this.#end("not content", "Not all")];
    this.end = make("div.row", {}, make("span.muted", {}, "End it:"), ...this.ends);
    this.root = make("div.converse", {}, this.question, this.form, this.end);
    root.append(this.root);
    root.classList.add("talks");
  }

  /** @param {string} what @param {string} words */
  #end(what, words) {
    const made = make("button.btn", { type: "button" }, words);
    made.addEventListener("click", () => this.bar.say(what));
    return made;
  }

  async #say() {
    const said = this.input.value.trim();
    if (said && (await this.bar.say("say", said))) this.input.value = "";
  }

  /** @param {Drive | null} drive @param {boolean} grows @param {string} awaits what must come before the agent goes on, in words */
  show(drive, grows, awaits) {
    const mine = drive?.stands && drive.person === this.me && drive.typed.user === this.me ? drive : null;
    // Who has acted while the agent waits for words says them then: it is not handed back without any.
    const own = mine && (mine.state === "paused" || mine.typed.waits) ? mine : null;
    this.root.hidden = !grows;
    this.input.disabled = !own && !this.began; // what is next may be typed while the agent is at it
    for (const one of [this.send, ...this.ends]) one.disabled = !own;
    const { waits, question } = own?.typed ?? { waits: "", question: "" };
    const asks = waits === "answer" ? question : "";
    const driven = drive ? sentence(drive.words) : AT_IT;
    const next = waits && question ? `${question} What is next?` : "What is next?";
    this.question.textContent = asks || (own ? next : awaits || driven);
    this.question.classList.toggle("asked", Boolean(asks));
    this.input.placeholder = asks ? "Your answer" : "Say something as the user …";
    // Once for each thing that is asked, and never of who acts in the page: their keys are theirs.
    const due = own?.state === "paused" ? `${waits} ${question}`.trim() : "";
    if (due && due !== this.due && document.activeElement === document.body) this.input.focus();
    this.due = due;
  }
}
