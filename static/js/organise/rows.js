// Rows of the organise page, made of text only. A row is focusable and carries what it stands for in data attributes.
import { amount } from "../shared/elements.js";

/** @typedef {{id: number, steps: number, turns: number, site: string, text: string, [name: string]: any}} Task */
/** @typedef {{id: number, tasks: number[], [name: string]: any}} SessionRow */
/** @typedef {{id: number, why: string, tasks: number[], [name: string]: any}} ProposalRow */

const LONGEST = 300; // rows of a list; the filters lead to the others

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {string | number} text
 */
function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = String(text);
  return made;
}

/** A text that may be cut, with all of it as its title. @param {string} className @param {string} text */
function cut(className, text = "") {
  const made = element("span", className, text);
  made.title = text;
  return made;
}

/** @param {string} what @param {string} text @param {string} title */
function button(what, text, title) {
  const made = element("button", "btn small", text);
  made.type = "button";
  made.dataset.do = what;
  made.title = title;
  made.tabIndex = -1;
  return made;
}

/**
 * A task; `key` names the row, `facts` say where it lies.
 * @param {Task} task
 * @param {string} key
 * @param {boolean} isMarked
 * @param {object} facts
 */
function taskRow(task, key, isMarked, facts = {}) {
  const row = element("div", "task");
  Object.assign(row.dataset, { row: key, task: task.id }, facts);
  row.tabIndex = -1;
  row.draggable = true;
  row.toggleAttribute("data-marked", isMarked);
  const mark = element("span", "mark");
  mark.setAttribute("aria-hidden", "true");
  const said = cut("said", task.text);
  const turns = task.turns > 1 ? `${task.turns} turns · ` : "";
  row.append(mark, said, element("span", "faint", turns + amount(task.steps, "step")));
  return row;
}

/** Text between the options, which is none of them. @param {HTMLElement} made */
function outside(made) {
  made.setAttribute("role", "presentation");
  return made;
}

/** @param {HTMLElement} list @param {{leftovers: Task[], marked: Set<number>, allLeft: number}} shown */
export function drawLeft(list, { leftovers, marked, allLeft }) {
  list.replaceChildren();
  list.setAttribute("role", leftovers.length ? "listbox" : "group"); // a list box without an option is none
  if (leftovers.length) list.setAttribute("aria-multiselectable", "true");
  else list.removeAttribute("aria-multiselectable");
  let heading = "";
  for (const task of leftovers.slice(0, LONGEST)) {
    const where = `${task.site} · ${task.split}`;
    if (where !== heading) list.append(outside(element("h3", "site", where)));
    heading = where;
    const row = taskRow(task, `left-${task.id}`, marked.has(task.id));
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(marked.has(task.id)));
    list.append(row);
  }
  if (leftovers.length > LONGEST)
    list.append(outside(element("p", "more", `${leftovers.length - LONGEST} more: filter by website or text.`)));
  if (!leftovers.length)
    list.append(element("p", "more", allLeft ? "No leftover fits the filter." : "Every task lies in a session."));
}

/** @param {ProposalRow} proposal @param {Map<number, Task>} tasks */
function proposalBox(proposal, tasks) {
  const box = element("section", "session proposal");
  const head = element("header", "head-row");
  Object.assign(head.dataset, { row: `proposal-${proposal.id}`, proposal: proposal.id });
  head.tabIndex = -1;
  head.append(element("span", "tag predicted", "proposal"), cut("why", proposal.why));
  head.append(
    button("accept", "Accept", "Make this session (a)"),
    button("reject", "Reject", "Do not propose it again (r)"),
  );
  box.append(head);
  for (const id of proposal.tasks) {
    const line = element("div", "task flat");
    line.append(
      element("span"),
      cut("said", tasks.get(id)?.text),
      element("span", "faint", amount(tasks.get(id)?.steps ?? 0, "step")),
    );
    box.append(line);
  }
  return box;
}

/** @param {SessionRow} session @param {Map<number, Task>} tasks @param {Set<number>} marked */
function sessionBox(session, tasks, marked) {
  const box = element("section", "session");
  const known = session.tasks.flatMap((id) => tasks.get(id) ?? []);
  const head = element("header", "head-row");
  Object.assign(head.dataset, { row: `session-${session.id}`, session: session.id });
  head.tabIndex = -1;
  const steps = known.reduce((sum, task) => sum + task.steps, 0);
  head.append(
    element("b", "", session.name),
    element("span", "faint", [known[0]?.split, amount(known.length, "task"), amount(steps, "step")].join(" · ")),
  );
  head.append(cut("why", session.why));
  if (session.begun) head.append(element("span", "tag running", "begun"));
  else if (session.open) head.append(element("span", "tag", session.batch ? `open · ${session.batch}` : "open"));
  if (!session.begun) head.append(button("delete", "×", "Put the session into the bin (x)"));
  box.append(head);
  known.forEach((task, index) => {
    const row = taskRow(task, `task-${task.id}`, marked.has(task.id), { session: session.id, index });
    const tools = element("span", "tools");
    if (!session.begun && index) tools.append(button("split", "split", "This task begins a new session (s)"));
    if (!session.begun) tools.append(button("remove", "×", "Take the task out (x)"));
    row.append(tools);
    box.append(row);
  });
  return box;
}

/**
 * @param {HTMLElement} list
 * @param {{sessions: SessionRow[], proposals: ProposalRow[], tasks: Map<number, Task>, marked: Set<number>}} shown
 */
export function drawRight(list, { sessions, proposals, tasks, marked }) {
  list.replaceChildren();
  for (const proposal of proposals.slice(0, LONGEST)) list.append(proposalBox(proposal, tasks));
  for (const session of sessions.slice(0, LONGEST)) list.append(sessionBox(session, tasks, marked));
  const hidden = Math.max(0, sessions.length - LONGEST) + Math.max(0, proposals.length - LONGEST);
  if (hidden) list.append(element("p", "more", `${hidden} more: filter by website or text.`));
  if (!sessions.length && !proposals.length) {
    list.append(
      element("p", "more", "No sessions yet: mark leftovers (m) and make one of them (n), or have some proposed (p)."),
    );
  }
  const drop = element("div", "drop", "Drop tasks here for a new session");
  drop.dataset.drop = "new";
  list.append(drop);
}
