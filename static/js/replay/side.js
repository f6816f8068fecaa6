// The right pane: what the agent decided and what each stage recorded. Known records are laid out, unknown ones are
// shown as text; a stage without a record says so.
import { actionParts, actionText, amount, bar, make, representationParts } from "../shared/elements.js";
import { readPage } from "../shared/server.js";
import {
  asText,
  beside,
  choice,
  compared,
  facts,
  folded,
  isRecorded,
  missing,
  overruled,
  query,
  recalled,
  roundFacts,
  section,
  stagePanel,
  stageRow,
  told,
} from "./records.js";
import { action, corrections, further, happened, prediction, reword, since, undecided } from "./decided.js";

const STAGES = ["observe", "rank", "recall", "simplify", "compose", "plan", "imagine", "act"];
const LISTED = 8;
const NOTHING_RECALLED = "nothing recalled: no earlier turn, or nothing near enough";
const HIDDEN =
  "What agents did in test splits is hidden from you with the gold, which it repeats: an admin of the project can let you see it.";

/** @typedef {{node_id: string, score: number, text?: string, name?: string}} Candidate */

export class SidePane {
  /**
   * @param {HTMLElement} root
   * @param {import("./store.js").ReplayStore} store
   * @param {{gold: boolean, onHover: (node: string | null) => void, onPick: (node: string) => void}} options
   */
  constructor(root, store, options) {
    this.root = root;
    this.store = store;
    this.options = options;
    this.allCandidates = false;
    this.open = new Set(); // summaries that the reader opened stay open from step to step
    root.addEventListener("toggle", (event) => this.#remember(event.target), true);
  }

  /** @param {any} element */
  #remember(element) {
    if (!element.dataset?.remember) return;
    if (element.open) this.open.add(element.dataset.remember);
    else this.open.delete(element.dataset.remember);
  }

  /** The last step stays readable, dimmed, until the next one is here: nothing jumps. */
  wait() {
    this.root.setAttribute("aria-busy", "true");
  }

  /** @param {string} message */
  showError(message) {
    this.#fill(section("Decision", null, make("p.note.bad", {}, message)));
  }

  /** @param {any} detail of the server; null while the step is not decided @param {string} [mark] */
  show(detail, mark) {
    this.detail = detail;
    this.mark = mark;
    if (!detail) {
      this.#fill(section("Decision", null, ...undecided(mark, this.held)));
      return;
    }
    if (!this.options.gold) {
      this.#fill(section("Decision", null, make("p.note", {}, HIDDEN)));
      return;
    }
    const sections = [
      this.#decision(detail),
      ...this.#imagine(detail),
      ...this.#changes(detail),
      this.#rank(detail),
      this.#recall(detail),
      ...this.#compose(detail),
      this.#plan(detail),
      this.#stages(detail),
    ];
    this.#fill(...sections);
  }

  /** The action that waits for a person, or that none does any more. @param {import("./held.js").Held | null} held */
  tellHeld(held) {
    this.held = held;
    if (!this.detail && this.mark) this.show(null, this.mark);
  }

  /** @param {...Node} sections */
  #fill(...sections) {
    this.options.onHover(null); // rows that go away never say that the pointer left them
    const top = this.root.scrollTop;
    this.root.replaceChildren(...sections);
    this.root.scrollTop = top;
    this.root.removeAttribute("aria-busy");
  }

  /** @param {any} detail */
  #decision(detail) {
    const rows = make("div.actions-shown", {}, this.#named("predicted", detail.node_id), action(detail));
    if (detail.gold) rows.append(this.#named("gold", detail.gold.node_ids[0]), action(detail.gold));
    const said = detail.verdict.join(" · ");
    const judged = said ? make("p.verdict", {}, make("span", {}, said)) : null;
    judged?.classList.add(detail.success ? "right" : "wrong");
    const words = detail.gold ? judged : make("p.muted", {}, said);
    const notes = [
      detail.error && !detail.verdict.includes(detail.error) ? make("p.note.bad", {}, detail.error) : null,
      ...since(detail),
    ];
    return section("Decision", null, rows, words, ...notes, ...corrections(detail), reword(detail), happened(detail));
  }

  /** A tag that brings its element into view. @param {"predicted" | "gold"} mark @param {string} node */
  #named(mark, node) {
    const tag = make(
      `button.plain.tag.${mark}`,
      { type: "button", title: node ? "Show it in the page" : null, disabled: !node },
      mark,
    );
    this.#point(tag, node);
    return tag;
  }

  /** @param {HTMLElement} button @param {string} node */
  #point(button, node) {
    button.addEventListener("pointerenter", () => this.options.onHover(node));
    button.addEventListener("pointerleave", () => this.options.onHover(null));
    button.addEventListener("focus", () => this.options.onHover(node));
    button.addEventListener("blur", () => this.options.onHover(null));
    button.addEventListener("click", () => this.options.onPick(node));
  }

  /** @param {Record<string, any>} detail */
  #rank({ candidates, candidate_total: total, gold, gold_rank: goldRank, trace }) {
    const none = trace.rank ? make("p.faint", {}, "there was no element to rank") : missing("rank");
    if (!candidates.length) return stagePanel("rank", null, none);
    const heading = amount(total, "candidate");
    const golden = new Set(gold?.node_ids);
    const named = candidates.filter((/** @type {Candidate} */ one) => one.text).length || candidates.length;
    const shown = this.allCandidates ? named : Math.min(LISTED, named);
    const best = Math.max(...candidates.map((/** @type {Candidate} */ one) => one.score));
    const worst = Math.min(0, candidates[Math.min(named, candidates.length) - 1].score);
    const row = (/** @type {number} */ place, /** @type {string | undefined} */ name = undefined) =>
      this.#candidate(
        { name, ...candidates[place] },
        place,
        golden,
        (candidates[place].score - worst) / (best - worst || 1),
      );
    const list = make("div.candidates", {}, ...Array.from({ length: shown }, (_, place) => row(place)));
    if (goldRank !== null && goldRank >= shown)
      list.append(make("div.skipped", {}, "⋯"), this.#beyond(goldRank, candidates, gold, row));
    if (goldRank === null && gold)
      list.append(make("p.faint", {}, `gold is not among the ${total.toLocaleString("en")} ranked`));
    const more =
      named > LISTED
        ? make("button.btn.small", { type: "button" }, this.allCandidates ? `First ${LISTED}` : `All ${named}`)
        : null;
    more?.addEventListener("click", () => {
      this.allCandidates = !this.allCandidates;
      this.show(this.detail);
    });
    return stagePanel("rank", heading, list, more, query(trace.rank, this.open));
  }

  /** The gold element where the list does not reach it; its text is recorded only for the first ones. @param {number} goldRank @param {Candidate[]} candidates @param {any} gold @param {(place: number, name?: string) => Node} row */
  #beyond(goldRank, candidates, gold, row) {
    const name = actionParts(gold).name;
    if (goldRank < candidates.length) return row(goldRank, name);
    return make(
      "div.cand",
      {},
      make("span.faint", {}, goldRank + 1),
      make("span.gold.clip", {}, name),
      make("span.tag.gold", {}, "gold"),
      make("span"),
      make("span"),
    );
  }

  /** @param {Candidate} one @param {number} place @param {Set<string>} golden @param {number} fraction */
  #candidate({ node_id: node, score, text, name: known }, place, golden, fraction) {
    const isGold = golden.has(node);
    const predicted = node === this.detail.node_id;
    const name = make(isGold ? "span.gold.clip" : "span.clip", {}, text || known || `element ${node}`);
    const tag = isGold
      ? make("span.tag.gold", {}, predicted ? "✓ gold" : "gold")
      : predicted
        ? make("span.tag.predicted", {}, "pred")
        : make("span");
    const title = `${name.textContent}\nelement ${node} · score ${score}`;
    const button = make(
      "button.cand",
      { type: "button", title, "data-node": node },
      make("span.faint", {}, place + 1),
      name,
      tag,
      bar(fraction),
      make("span.faint.n", {}, score.toFixed(2)),
    );
    this.#point(button, node);
    return button;
  }

  /** An element was pointed at in the page. @param {string} node */
  pick(node) {
    if (
      !this.root.querySelector(`[data-node="${CSS.escape(node)}"]`) &&
      !this.allCandidates &&
      this.detail?.candidates.some((/** @type {Candidate} */ one) => one.node_id === node)
    ) {
      this.allCandidates = true;
      this.show(this.detail);
    }
    const row = this.root.querySelector(`[data-node="${CSS.escape(node)}"]`);
    row?.scrollIntoView({ block: "nearest" });
    row?.focus({ preventScroll: true });
  }

  /** @param {Record<string, any>} detail */
  #recall({ memory, trace }) {
    const { of, kind } = trace.recall ?? {};
    const count =
      of === undefined || of === null ? `${memory.length} recalled` : `${memory.length} of ${amount(of, "snippet")}`;
    if (!trace.recall) return stagePanel("recall", null, missing("recall"));
    const rows = memory.map((/** @type {Record<string, any>} */ snippet) => this.#snippet(snippet));
    const none = memory.length
      ? null
      : make("p.faint", {}, kind === "none" ? "this agent recalls nothing" : NOTHING_RECALLED);
    const more = [
      ...told("Rewritten instruction", trace.recall.rewritten),
      ...told("Predicted objective", trace.recall.objective),
      ...recalled("Exemplars", trace.recall.exemplars, ({ instruction, source }) => [instruction, source, null]),
      ...recalled("Workflows", trace.recall.workflows, ({ id, name, website }) => [name, website, `/workflows/${id}/`]),
    ];
    const used = more.length && kind === "none" ? null : none;
    const note =
      more.length && kind === "none" ? "" : [count, kind].filter((word) => word && word !== "none").join(" · ");
    return stagePanel("recall", note, make("div.snippets", {}, ...rows), used, ...more, query(trace.recall, this.open));
  }

  /** @param {Record<string, any>} snippet */
  #snippet({ turn_index: turn, step_index: step, instruction, action: done, similarity }) {
    const seq = this.store.place(turn, step);
    const past = representationParts(done);
    const shown = past.operation ? actionText({ action_repr: done, ...past }) : done;
    const parts = [
      make("span.n", {}, similarity === null ? "–" : similarity.toFixed(2)),
      make("span.clip", {}, `Turn ${turn + 1} · `, shown),
    ];
    const title = `${instruction}${done ? `\n${done}` : ""}`;
    if (seq === null) return make("div.snippet", { title }, ...parts);
    return make("a.snippet", { href: `${this.store.url}steps/${seq}/`, "data-seq": seq, title }, ...parts);
  }

  /** @param {Record<string, any>} detail */
  #compose({ trace }) {
    const { prompt } = trace.compose ?? {};
    if (prompt === undefined) return [];
    return [stagePanel("compose", null, folded("prompt", "Prompt", make("pre", {}, asText(prompt)), this.open))];
  }

  /** @param {Record<string, any>} detail */
  #plan({ trace, calls, prompt_tokens: asked, completion_tokens: answered }) {
    // What imagining asked stands with it.
    const other = trace.imagine?.usage ?? { calls: 0, prompt_tokens: 0, completion_tokens: 0 };
    const own = {
      calls: calls - other.calls,
      prompt_tokens: asked - other.prompt_tokens,
      completion_tokens: answered - other.completion_tokens,
    };
    const used = own.calls ? spent(own) : "no model call";
    const { reply, why, rounds, samples = [], left_out: leftOut } = trace.plan ?? {};
    const shown = [];
    if (leftOut) shown.push(make("p.faint", {}, leftOut));
    if (reply !== undefined) shown.push(make("pre", {}, asText(reply)));
    if (why !== undefined) shown.push(facts(why));
    if (samples.length > 1) {
      const texts = samples.map((/** @type {string} */ text) => make("pre", {}, asText(text)));
      shown.push(folded("samples", `${samples.length} replies drawn`, make("div", {}, ...texts), this.open));
    }
    if (rounds?.length)
      shown.push(folded("rounds", amount(rounds.length, "round"), facts(roundFacts(rounds)), this.open));
    if (!shown.length) shown.push(missing("plan"));
    return stagePanel("plan", used, ...shown);
  }

  /** What was considered, the best first, and what was predicted of each. @param {Record<string, any>} detail */
  #imagine({ branches, action_repr: done, trace }) {
    if (!branches.length) return [];
    const rows = compared(branches, trace.imagine).map(
      ({ branch, rating, isWeighed, beside: said, answers }, place) => {
        const name = branch.representation || [branch.action.operation, branch.action.value].filter(Boolean).join(" ");
        const title = isWeighed
          ? "Value, weighed with the planner’s own share of the action"
          : "Value of what was predicted";
        const head = make(
          "div.branch",
          {},
          make("span.n", { title }, rating === null ? "–" : rating.toFixed(2)),
          make("span.clip", { title: name }, name),
          ...choice(branch, branches).map((words) => make("span.tag.predicted", {}, words)),
        );
        this.#point(head, branch.action.node_id);
        const predicted = branch.prediction ? prediction("p.muted.predicted", branch.prediction) : null;
        const texts = answers.map((/** @type {string} */ text) => make("pre", {}, asText(text)));
        const graded = texts.length
          ? folded(`graded ${place}`, "How it was graded", make("div", {}, ...texts), this.open)
          : null;
        const weighed = said ? make("p.faint.predicted", {}, said) : null;
        return make("div", {}, head, weighed, predicted, ...further(branch.further ?? []), graded);
      },
    );
    const best = branches.find((/** @type {any} */ branch) => branch.by_value);
    const other = best && !best.chosen ? make("p.note", {}, overruled(branches, done)) : null;
    const note = [`${branches.length} considered`, trace.imagine?.usage?.calls ? spent(trace.imagine.usage) : ""];
    return [stagePanel("imagine", note.filter(Boolean).join(" · "), other, ...rows)];
  }

  /** What really happened to the page, read when it is opened, beside what was predicted: of the recorded action, or, of
   * an episode without a recorded path, of the action that the agent carried out. @param {Record<string, any>} detail */
  #changes({ seq, step, gold, branches }) {
    if (step && !gold) return [];
    const content = make("div", {}, make("p.muted", {}, "Comparing the pages …"));
    const isDone = (/** @type {any} */ branch) => (step ? isRecorded(branch.action, gold) : branch.chosen);
    const foreseen = branches.find(
      (/** @type {any} */ branch) => branch.prediction && branch.value !== null && isDone(branch),
    );
    const told = foreseen && prediction("p.predicted", foreseen.prediction);
    const shown = told ? beside("Predicted", told, "Happened", content) : content;
    // Who is asked to judge a prediction compares it with what happened: nothing has to be opened for that.
    if (foreseen && new URLSearchParams(location.search).has("queue")) this.open.add("changes");
    const opened = folded("changes", "Elements by which the next page differs", shown, this.open);
    const address = step ? `/steps/${step}/changes/` : `${this.store.url}steps/${seq}/changes/`;
    opened.addEventListener("toggle", () => opened.open && this.#compare(content, address));
    return [section("What really happened", foreseen ? "beside what was predicted" : null, opened)];
  }

  /** @param {HTMLElement} content @param {string} address */
  async #compare(content, address) {
    if (content.dataset.address) return;
    content.dataset.address = address;
    try {
      const page = await readPage(address);
      content.replaceChildren(...page.body.children);
    } catch (error) {
      delete content.dataset.address;
      content.replaceChildren(make("p.note.bad", {}, error.message));
    }
  }

  /** @param {Record<string, any>} detail */
  #stages({ trace, milliseconds, call_index: call }) {
    const seconds = trace.seconds ?? {};
    const longest = Math.max(0.0001, ...Object.values(seconds).filter(Number.isFinite));
    const words = [...STAGES, ...Object.keys(trace).filter((word) => !STAGES.includes(word) && word !== "seconds")];
    const rows = words.map((word) => stageRow(word, trace[word], seconds[word], longest));
    const { together } = this.store;
    const whose = together === 1 ? "in all" : `a step on average, of up to ${together} decided together`;
    const took = `${(milliseconds / 1000).toFixed(3)} s ${whose}${call ? ` · call ${call + 1}` : ""}`;
    return section("Stages", took, ...rows);
  }
}

/** Tokens and calls of a model. @param {{calls: number, prompt_tokens: number, completion_tokens: number}} usage */
function spent({ calls, prompt_tokens: asked, completion_tokens: answered }) {
  return `${asked.toLocaleString("en")} + ${amount(answered, "token")} · ${amount(calls, "call")}`;
}
