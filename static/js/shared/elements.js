// Building elements from data: text goes in as text, never as markup.

/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */
/** @typedef {{operation: string, value: string, action_repr: string, node_id?: string, node_ids?: string[]}} Action */

/**
 * What `make` gives for "tag" and "tag.class".
 * @template {string} Spec
 * @typedef {Spec extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Spec]
 *   : Spec extends `${infer Tag extends keyof HTMLElementTagNameMap}.${string}` ? HTMLElementTagNameMap[Tag]
 *   : HTMLElement} Made
 */

/**
 * @template {string} Spec
 * @param {Spec} spec tag and classes: "div", "span.tag.gold"
 * @param {Attributes} [attributes] null, undefined and false are left out
 * @param {...(Node | string | number | null | undefined)} children
 * @returns {Made<Spec>}
 */
export function make(spec, attributes = {}, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  setAttributes(element, attributes);
  element.append(
    ...children
      .filter((child) => child !== null && child !== undefined)
      .map((child) => (child instanceof Node ? child : String(child))),
  );
  return /** @type {Made<Spec>} */ (element);
}

/**
 * The element below `root` that fits, where the page must have one.
 * @template {string} Selector
 * @param {ParentNode} root
 * @param {Selector} selector a tag ("form") says what it is; "#id" and ".class" are any element
 * @returns {Made<Selector>}
 */
export function the(root, selector) {
  const found = root.querySelector(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return /** @type {Made<Selector>} */ (found);
}

/**
 * The nearest element that fits, around the place where an event happened.
 * @param {Event} event
 * @param {string} selector
 */
export function around(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/** @param {string} id */
export function button(id) {
  return /** @type {HTMLButtonElement} */ (document.getElementById(id));
}

/** @param {string} id */
export function dialog(id) {
  return /** @type {HTMLDialogElement} */ (document.getElementById(id));
}

/** Ask in the page's dialog `ask`, whose one button says yes. @param {string} text @param {string} yes @returns {Promise<boolean>} */
export function confirmed(text, yes) {
  const question = dialog("ask");
  /** @type {HTMLElement} */ (question.querySelector("p")).textContent = text;
  /** @type {HTMLElement} */ (question.querySelector("button")).textContent = yes;
  question.returnValue = "no";
  question.showModal();
  return new Promise((resolve) =>
    question.addEventListener("close", () => resolve(question.returnValue === "yes"), { once: true }),
  );
}

/** A horizontal bar; drawn as SVG, so that no style attribute is needed. @param {number} fraction in 0..1 */
export function bar(fraction) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  setAttributes(svg, { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" });
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  setAttributes(rect, { width: Math.max(1, Math.min(1, fraction) * 100).toFixed(1), height: 6, rx: 2 });
  svg.append(rect);
  return svg;
}

/** @param {Element} element @param {Attributes} attributes */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** "1 step", "12 steps": of nouns whose plural ends in s. @param {number} number @param {string} noun */
export function amount(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** 0.4 s, 12 ms: three digits are enough to compare steps. @param {number} ms */
export function milliseconds(ms) {
  if (ms >= 10000) return `${(ms / 1000).toFixed(0)} s`;
  if (ms >= 100) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(1)} ms`;
}

/** An action in short: "CLICK DVD $1.75", "TYPE Columbus". @param {Action} action */
export function actionText(action) {
  const { operation, name, value } = actionParts(action);
  return operation === "STOP" && !value && !name ? "stopped" : `${operation} ${value || name}`.trim();
}

/**
 * Operation, element and value of an action, for people; `node_ids` of a gold action, `node_id` of a decided one. What
 * acts on no element ("say: Hello") has no name; a decision that only ranks has an element and no operation.
 * @param {Action} action
 */
export function actionParts({ operation, value, action_repr: representation, node_id: node, node_ids: nodes }) {
  const id = node || nodes?.[0];
  const parts = representationParts(representation);
  const name = id ? parts.name || `element ${id}` : parts.operation && parts.name;
  return { operation: operation || (id ? "ranked first" : "no action"), name, value };
}

/** What an element without a name is, by its tag, as annotations/text/actions.py has it. @type {Record<string, string>} */
const KINDS = {
  i: "an icon",
  svg: "an icon",
  path: "an icon",
  use: "an icon",
  input: "a field",
  textarea: "a field",
  img: "a picture",
  a: "a link",
  button: "a button",
  select: "a list",
};

/**
 * The parts of a representation: "[button]  DVD -> CLICK" and "button DVD → CLICK" both give the name "DVD"; an
 * element without text gives what it is. What follows the arrow is the operation and its value.
 * @param {string | null | undefined} representation
 */
export function representationParts(representation) {
  const arrow = /^(.*?)\s*(?:->|→)\s*([A-Z_]+)(?::\s*(.*))?$/s.exec(representation ?? "");
  const element = /^(?:\[([^\]]*)\]|([a-z][a-z0-9-]*)(?=\s|$))?\s*(.*)$/s.exec(
    (arrow ? arrow[1] : representation) ?? "",
  );
  const [, bracketed, plain, rest] = element ?? [];
  return {
    name:
      rest || (bracketed && bracketed !== "page" ? `${KINDS[bracketed] ?? "an element"} without a name` : plain) || "",
    operation: arrow?.[2] ?? "",
    value: arrow?.[3] ?? "",
  };
}

/** Ctrl Enter in a dialog is its first button. @param {KeyboardEvent} event */
export function submitByKey(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.stopPropagation();
  const form = /** @type {HTMLFormElement | null} */ (around(event, "form"));
  form?.requestSubmit(the(form, "button"));
}
