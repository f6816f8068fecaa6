// How a record of a stage is written in the right pane: its facts as a list, long texts folded, what is missing as such.
import { amount, bar, make } from "../shared/elements.js";

/** What a stage has written down; each kind writes other facts. @typedef {Record<string, any>} StageRecord */
/** What imagining has written down of each branch.
 * @typedef {{ratings?: number[], confidences?: number[], graded?: string[][], ungraded?: number[], scores?: any[][]}} Imagined */

// What the sections above the table of stages show already.
/** @type {Record<string, string[]>} */
const SHOWN = {
  observe: ["elements", "candidates", "sees"],
  rank: ["query", "elements", "candidates"],
  recall: ["query", "of", "kind", "exemplars", "workflows", "objective", "rewritten"],
  simplify: ["kept", "text"],
  compose: ["prompt"],
  plan: ["reply", "why", "rounds", "kept"],
  imagine: ["graded", "ungraded"],
  act: ["representation"],
};

/** @param {string} title @param {string | null} note @param {...any} children */
export function section(title, note, ...children) {
  return make("section", {}, make("h2", {}, title, note ? make("small", {}, ` ${note}`) : null), ...children);
}

/** The panel of a stage, which has its name. @param {string} name @param {string | null} note @param {...any} children */
export function stagePanel(name, note, ...children) {
  const panel = section(name, note, ...children);
  panel.dataset.stage = name;
  return panel;
}

/** @param {string} word */
export function missing(word) {
  return make("p.faint", {}, `no record of ${word}`);
}

/** @param {string} title @param {unknown} text */
export function told(title, text) {
  return text ? [make("h3", {}, title), make("p", {}, asText(text))] : [];
}

/** @param {string} name @param {string} title @param {Node | string} content @param {Set<string>} open names of those that are open */
export function folded(name, title, content, open) {
  return make("details", { "data-remember": name, open: open.has(name) }, make("summary", {}, title), content);
}

/** @param {unknown} record */
export function facts(record) {
  if (typeof record !== "object" || record === null) return make("pre", {}, asText(record));
  return make(
    "dl.facts",
    {},
    ...Object.entries(record).flatMap(([key, value]) => [
      make("dt", {}, key.replaceAll("_", " ")),
      make("dd", {}, asText(value)),
    ]),
  );
}

/** @param {unknown} value @returns {string} */
export function asText(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** @param {number} seconds */
function took(seconds) {
  return seconds < 1 ? `${(seconds * 1000).toFixed(1)} ms` : `${seconds.toFixed(2)} s`;
}

/**
 * @param {string} word
 * @param {StageRecord | undefined} record
 * @param {number | undefined} seconds
 * @param {number} longest
 */
export function stageRow(word, record, seconds, longest) {
  const time =
    seconds === undefined
      ? [make("span"), make("span.faint.n", {}, record === undefined ? "no record" : "not timed")]
      : [bar(seconds / longest), make("span.faint.n", {}, took(seconds))];
  const row = make(
    "div.stage",
    {},
    make("span", {}, word),
    make("span.faint.clip", { title: summary(word, record) || null }, summary(word, record)),
    ...time,
  );
  const rest = unknown(word, record);
  return rest === null ? row : make("div", {}, row, rest);
}

/** What a stage gave, in a few words. @param {string} word @param {StageRecord | undefined} record */
function summary(word, record) {
  if (!record) return "";
  if (record.elements !== undefined && record.candidates !== undefined)
    return `${record.candidates}/${amount(record.elements, "element")}`;
  if (record.kept !== undefined) return `${Array.isArray(record.kept) ? record.kept.length : record.kept} kept`;
  if (word === "observe") return record.sees ?? "";
  if (word === "act") return record.representation ?? "";
  return "";
}

/**
 * Records that no section lays out, as plain text.
 * @param {string} word
 * @param {StageRecord | null | undefined} record
 */
function unknown(word, record) {
  if (record === undefined || record === null) return null;
  if (typeof record !== "object") return make("pre", {}, asText(record));
  const known = SHOWN[word] ?? [];
  const rest = Object.fromEntries(Object.entries(record).filter(([key]) => !known.includes(key)));
  return Object.keys(rest).length ? facts(rest) : null;
}

/** @param {StageRecord | undefined} record @param {Set<string>} open */
export function query(record, open) {
  return record?.query ? folded("query", "Query", make("pre", {}, asText(record.query)), open) : null;
}

/**
 * "round 2" → what was asked about and what came of it.
 * @param {{elements: string[], reply: unknown, chosen: string | null}[]} rounds
 */
export function roundFacts(rounds) {
  return Object.fromEntries(
    rounds.map(({ elements, reply, chosen }, index) => [
      `round ${index + 1}`,
      `${amount(elements.length, "element")} (${elements.join(", ")}) → ${chosen ?? "none"}: ${asText(reply)}`,
    ]),
  );
}

/**
 * Exemplars or workflows, in prompt order; `parts` gives [text, small text, address].
 * @template Item
 * @param {string} title
 * @param {(Item & {distance?: number, [name: string]: any})[]} items
 * @param {(item: any) => any[]} parts
 */
export function recalled(title, items, parts) {
  if (!items?.length) return [];
  const rows = items.map((item) => {
    const [text, small, href] = parts(item);
    const distance = item.distance === undefined || !Number.isFinite(item.distance) ? "–" : item.distance.toFixed(2);
    const content = [
      make("span.n", { title: "L2 distance to what was asked" }, distance),
      make("span.clip", {}, text, small ? make("span.faint", {}, ` · ${small}`) : null),
    ];
    return href
      ? make("a.snippet", { href, title: text }, ...content)
      : make("div.snippet", { title: text }, ...content);
  });
  return [make("h3", {}, title), make("div.snippets", {}, ...rows)];
}

/** Two records side by side, each under its title.
 * @param {string} title @param {Node} content @param {string} other @param {Node} otherContent */
export function beside(title, content, other, otherContent) {
  /** @param {string} words @param {Node} node */
  const column = (words, node) => make("div", {}, make("h3", {}, words), node);
  return make("div.beside", {}, column(title, content), column(other, otherContent));
}

/** Whether an action is the one that people took.
 * @param {{operation: string, node_id: string | null, value: string}} action
 * @param {{operation: string, node_ids: string[], value: string}} gold */
export function isRecorded({ operation, node_id: node, value }, gold) {
  return operation === gold.operation && gold.node_ids.includes(node ?? "") && (value ?? "") === gold.value;
}

/** What a branch is called: "chosen", or, where the agent did another one, which was chosen and which was done.
 * @param {any} branch @param {any[]} branches */
export function choice(branch, branches) {
  const best = branches.find((one) => one.by_value);
  if (!best || best.chosen) return branch.chosen ? ["chosen"] : [];
  return [branch.by_value ? "chosen by value" : "", branch.chosen ? "carried out" : ""].filter(Boolean);
}

/** Why the agent did not do what it chose. @param {any[]} branches @param {string} done */
export function overruled(branches, done) {
  const among = branches.some((branch) => branch.chosen) ? "" : `: ${done || "no action"}`;
  return `As published, the sample drawn at the chosen action's place is carried out, not that action${among}. The preset “corrected” carries out what was chosen.`;
}

/** Branches, the best first, each with what it was compared by: its value, or that weighed with how probable the planner
 * found the action, as the trace of the stage has it in the order of the branches.
 * @param {any[]} branches @param {Imagined | undefined} traced */
export function compared(branches, traced) {
  const { ratings = [], confidences = [], graded = [], ungraded = [], scores = [] } = traced ?? {};
  const isWeighed = ratings.length === branches.length;
  const isSure = confidences.length === branches.length;
  return branches
    .map((branch, place) => {
      const rating = isWeighed ? Math.exp(ratings[place]) : branch.value;
      const value = branch.value === null ? "" : `value ${branch.value.toFixed(2)}`;
      const sure = isSure && branch.prediction ? `${Math.round(100 * confidences[place])} % sure` : "";
      const answers = graded[place] ?? [];
      const lost = ungraded[place] ? `${ungraded[place]} of ${amount(scores[place].length, "grade")} not readable` : "";
      const beside = [isWeighed ? value : "", sure, lost].filter(Boolean).join(" · ");
      return { branch, rating, isWeighed, beside, answers };
    })
    .toSorted((one, other) => (other.rating ?? -Infinity) - (one.rating ?? -Infinity));
}
