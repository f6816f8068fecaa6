// A browser cuts what is pasted into a field that has less room, without a word: nothing is pasted then, and it is said.
import { make } from "./elements.js";

const SHOWN_MS = 12_000;
const said = make("p.told", { role: "alert", hidden: true });
let timer = 0;

/** Keeps a text that does not fit from being pasted; why, or "" where it fits. @param {ClipboardEvent} event */
export function refusedPaste(event) {
  const field = event.target;
  const isText = field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement;
  if (!isText || field.maxLength < 0) return "";
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  const chosen = (field.selectionEnd ?? 0) - (field.selectionStart ?? 0);
  const room = field.maxLength - (field.value.length - chosen);
  if (pasted.length <= room) return "";
  event.preventDefault();
  const [have, fit] = [pasted.length, Math.max(0, room)].map((count) => count.toLocaleString("en-GB"));
  return `Not pasted: it has ${have} characters, and ${fit} more fit here.`;
}

/** For every field that says nothing of it by itself. */
export function watchPastes() {
  document.addEventListener("paste", (event) => {
    const why = event.defaultPrevented ? "" : refusedPaste(event);
    if (!why) return;
    const field = /** @type {Element} */ (event.target);
    (field.closest("dialog[open]") ?? document.body).append(said); // an open dialog lies above all else
    said.textContent = why;
    said.hidden = false;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => (said.hidden = true), SHOWN_MS);
  });
}
