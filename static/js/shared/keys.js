// Keyboard commands: one registry, shown on the `?` sheet. Import this module; never load it by a script tag
// (a hashed and an unhashed address would be two registries).
import { around } from "./elements.js";

/**
 * @typedef {{
 *   spec: string,
 *   label: string,
 *   group: string,
 *   run: (event?: Event) => void,
 *   hidden?: boolean,
 *   works?: () => boolean,
 * }} Command
 */

/** @type {Map<string, Command>} */
const commands = new Map();
/** The keys that this person has chosen, by what commands are called. @type {Record<string, string>} */
const chosen = JSON.parse(document.getElementById("key-map")?.textContent ?? "{}");
const SEQUENCE_MS = 1200;
/** @type {Record<string, string>} */
const SHOWN = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", Enter: "⏎", Shift: "⇧" };
let prefix = "";
let prefixTimer = 0;

/**
 * Register a key: "j", "ArrowLeft", "Shift+ArrowLeft", "g d" (one after the other), "?". A later registration wins,
 * and a key that this person has chosen for the command stands in for it.
 * @param {string} spec
 * @param {string} label what it does, for the sheet
 * @param {(event?: Event) => void} run
 * @param {{group?: string, hidden?: boolean, works?: () => boolean}} [options] `works`: whether the sheet lists it now
 */
export function bind(spec, label, run, { group = "This page", hidden = false, works = () => true } = {}) {
  const key = Object.hasOwn(chosen, label) ? chosen[label] : spec;
  commands.set(key, { spec: key, label, group, run, hidden, works });
}

/** @param {string} text */
export function inOneLine(text) {
  return text.trim().replaceAll(/\s+/g, " ");
}

/** Bind every element with data-key (and data-key-label, else its text) below `root` to a click on it. @param {ParentNode} root */
export function bindElements(root = document) {
  for (const element of root.querySelectorAll("[data-key]")) {
    const label =
      element.dataset.keyLabel ||
      inOneLine(element.textContent.replace(element.querySelector("kbd")?.textContent ?? "", ""));
    bind(element.dataset.key ?? "", label, () => element.click());
    const sign = element.querySelector("kbd");
    if (sign && Object.hasOwn(chosen, label)) sign.textContent = shown(chosen[label]).join(" ");
  }
}

/**
 * Run the command of a key, as if it had been pressed; also for keys that a framed page passes on.
 * @param {string} key
 * @param {{shift?: boolean, event?: Event}} [options]
 */
export function press(key, { shift = false, event = undefined } = {}) {
  const said = key === " " ? "Space" : key;
  const name = shift && said.length > 1 ? `Shift+${said}` : said;
  const sequence = prefix ? `${prefix} ${name}` : "";
  clearPrefix();
  const command = commands.get(sequence) ?? commands.get(name);
  if (command) {
    event?.preventDefault();
    command.run(event);
    return true;
  }
  if ([...commands.keys()].some((spec) => spec.startsWith(`${name} `))) {
    prefix = name;
    prefixTimer = window.setTimeout(clearPrefix, SEQUENCE_MS);
    return true;
  }
  return false;
}

/** The commands for the sheet that work now, in groups. */
export function listed() {
  const groups = new Map();
  for (const command of commands.values()) {
    if (!command.hidden && command.works?.())
      groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  }
  return groups;
}

/** The parts of a spec as people read them: "Shift+ArrowLeft" is ["⇧", "←"]. @param {string} spec */
export function shown(spec) {
  return spec.split(/[ +]/).map((part) => SHOWN[part] ?? part);
}

function clearPrefix() {
  window.clearTimeout(prefixTimer);
  prefix = "";
}

/** @param {EventTarget | null} target */
function typing(target) {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
  if (typing(event.target)) {
    if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
    return;
  }
  if (["Enter", " "].includes(event.key) && around(event, "a[href], button, summary")) return; // they press it
  if (document.querySelector("dialog[open]")) return; // the dialog has the keyboard; Escape closes it
  press(event.key, { shift: event.shiftKey, event });
});
