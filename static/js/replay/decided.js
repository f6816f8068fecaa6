// What the right pane says of one decision: what was done, what came of it and what people said of its gold.
import { actionParts, actionText, make } from "../shared/elements.js";
import { isLate, LATE } from "./held.js";
import { facts } from "./records.js";

const LONG_PREDICTION = 400;
const WAITS = "The agent has decided, and waits for a person.";

/** What was predicted, a line each. A whole page is read by scrolling in it. @param {string} look @param {string} text */
export function prediction(look, text) {
  const made = make(look, {}, text);
  if (text.length > LONG_PREDICTION) made.tabIndex = 0;
  return made;
}

/** What an agent imagined that it would do behind an action, one after another, on pages that are only expected.
 * @param {{representation: string, prediction: string, confidence: number | null}[]} steps */
export function further(steps) {
  return steps.map(({ representation, prediction: text, confidence }) => {
    const sure = confidence === null ? "" : `, all of it ${Math.round(100 * confidence)} % sure`;
    const said = make("p.faint.predicted", {}, `then, imagined: ${representation || "an action"}${sure}`);
    return make("div.further", {}, said, text ? prediction("p.muted.predicted", text) : null);
  });
}

/** Of a step without a recorded path: where and when it was, and what came of it. @param {Record<string, any>} step */
export function happened({ gold, url, happened_at: at, reward, outcome, call_index: call, done_by: person, trace }) {
  if (gold) return null;
  const told = {
    "done by": person,
    "agent proposed": person ? proposed(trace?.act?.proposed ?? []) : "",
    page: url,
    time: at ? new Date(at).toLocaleString("en") : "",
    call: String(call + 1),
    reward: reward === null ? "" : String(reward),
    outcome,
    "the user, a model": (trace?.user?.told ?? []).map(spoken).join("\n"),
  };
  return facts(Object.fromEntries(Object.entries(told).filter(([, text]) => text)));
}

/**
 * What a user that is a language model said with a step.
 * @param {{kind: string, words: string, model: string, error: string, content?: boolean | null, unasked: string[]}} one
 */
function spoken({ kind, words, model, error, content, unasked }) {
  const did = {
    instruction: "said what is to be done",
    answer: `answered “${words}”`,
    content: `${content ? "is content" : content === false ? "is not content" : "says neither yes nor no"}: “${words}”`,
  }[kind];
  const told = unasked.length ? `, and told what nothing had asked for: ${unasked.join(", ")}` : "";
  return `${did}${told}${error ? ` (not in its own words: ${error})` : model ? ` (${model})` : ""}`;
}

/** What the agent would have done where a person acted. @param {{representation: string}[]} actions */
function proposed(actions) {
  return actions.map(({ representation }) => representation).join(", ") || "nothing";
}

/**
 * What people said of the gold of this step, each with the way to its correction.
 * @param {{corrections: {url: string, account: string, is_later: boolean}[]}} detail
 */
export function corrections({ corrections: listed }) {
  return listed.map(({ url, account, is_later: isLater }) => {
    const said = isLater ? `: ${account}. The agent is judged here by the gold before it.` : `: ${account}`;
    return make("p.correction", {}, make("a.link", { href: url }, "Correction"), said);
  });
}

/** What stood there when the agent decided, where it was corrected since.
 * @typedef {{gold?: string, instruction?: string, now?: string}} Before
 */

/**
 * What was corrected since the agent decided: what stood there then, and what stands there now.
 * @param {{before: Before, gold: import("../shared/elements.js").Action | null}} detail
 */
export function since({ before: { gold: former, instruction, now }, gold }) {
  const told =
    instruction === undefined
      ? []
      : [`The words were corrected since this run: the agent was told “${instruction}”; now they are “${now}”.`];
  const judged =
    former === undefined || !gold
      ? []
      : [`The gold was corrected since this run: it was ${former}; now it is ${actionText(gold)}.`];
  return [...told, ...judged].map((said) => make("p.note.since", {}, said));
}

/** The ways to say that the recorded action, what the user says, or where the turn begins is wrong. @param {{gold: object | null, step: number | null}} detail */
export function reword({ gold, step }) {
  if (!gold || step === null) return null;
  return make(
    "p",
    {},
    make("a.link flag", { href: `/steps/${step}/#action` }, "The recorded action is wrong"),
    " · ",
    make("a.link reword", { href: `/steps/${step}/#wording` }, "The wording or the cut is wrong"),
  );
}

/** @param {import("../shared/elements.js").Action} one */
export function action(one) {
  const { operation, name, value } = actionParts(one);
  return make(
    "span",
    { title: one.action_repr },
    make("b", {}, operation),
    value ? ` “${value}” ` : " ",
    name ? make("span.muted", {}, value ? `in ${name}` : name) : null,
  );
}

/** Of a step that is not stored yet. @param {string | undefined} mark @param {import("./held.js").Held | null | undefined} held */
export function undecided(mark, held) {
  if (mark !== "running") return [make("p.muted", {}, "Not decided yet.")];
  if (!held) return [make("p.muted", {}, "The agent is deciding this step; it appears here when it is stored.")];
  const { representation, words, why, by, sure } = held;
  const shown = { action: representation, "held as it": words, because: why, "found by": by };
  return [
    make("p", {}, isLate(held) ? LATE : `${WAITS} What it considered appears here once it is done.`),
    facts(sure === null ? shown : { ...shown, prediction: `${Math.round(100 * sure)} % sure` }),
  ];
}

/** What stands between the pages before and after a step: the recorded action, or, of an episode, what was done. @param {Record<string, any> | null} detail */
export function between(detail) {
  if (!detail || (detail.step && !detail.gold)) return "the recorded action";
  if (detail.gold) return `the recorded action: ${actionText(detail.gold)}`;
  return `${detail.done_by || "the agent"} did: ${actionText(/** @type {any} */ (detail))}`;
}

/** Why a step has no page; of an episode with what happened. @param {Record<string, any> | null} detail */
export function noPage(detail) {
  if (!detail || detail.step) return "The source recorded no page for this step.";
  return `This step has no page. What happened: ${detail.outcome || "nothing was said of it"}.`;
}

/** Why there is no page after a step; of an episode with what came of the action. @param {Record<string, any> | null} detail */
export function nothingAfter(detail) {
  if (!detail || detail.step) return "The source keeps no page after this step.";
  const { reward, outcome } = detail;
  const came = [outcome, reward === null || reward === undefined ? "" : `reward ${reward}`].filter(Boolean).join(", ");
  const why = "No page after it was kept: the same call did more, or the episode ended without doing anything here";
  return `${why}, or before last pages were kept.${came ? ` What came of the action: ${came}.` : ""}`;
}
