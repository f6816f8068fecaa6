// The page of keys: press a new one for a command; the server says whether it is free.
import { call, Refused } from "../shared/server.js";
import { shown } from "../shared/keys.js";
import { make } from "../shared/elements.js";

const SEQUENCE_MS = 900;
const page = /** @type {HTMLElement} */ (document.getElementById("keymap"));
const said = /** @type {HTMLElement} */ (document.getElementById("said"));
/** @type {{row: HTMLElement, first: string, timer: number} | null} the row that waits for a key */
let waiting = null;

/** @param {HTMLElement} row @param {string} selector */
function part(row, selector) {
  return /** @type {HTMLElement} */ (row.querySelector(selector));
}

/** @param {HTMLElement} place @param {string} [spec] */
function draw(place, spec = "") {
  place.replaceChildren(...shown(spec).flatMap((key) => [make("kbd", {}, key), " "]));
}

/** @param {string} text */
function say(text, isBad = false) {
  said.hidden = !text;
  said.classList.toggle("bad", isBad);
  said.textContent = text;
}

/** @param {{command: string | undefined, key: string | null} | {reset: true}} body */
async function send(body) {
  try {
    await call(page.dataset.url ?? "", body);
    location.reload();
  } catch (error) {
    say(
      error instanceof Refused ? (error.body.problems ?? [error.message]).join(" ") : "The server cannot be reached.",
      true,
    );
  }
}

function stop() {
  if (!waiting) return;
  window.clearTimeout(waiting.timer);
  draw(part(waiting.row, ".chosen-key"), waiting.row.dataset.current);
  waiting.row.classList.remove("waiting");
  waiting = null;
}

/** @param {HTMLElement} row */
function wait(row) {
  stop();
  say("");
  waiting = { row, first: "", timer: 0 };
  row.classList.add("waiting");
  part(row, ".chosen-key").replaceChildren(make("span.faint", {}, "press a key …"));
  part(row, "[data-change]").blur();
}

/** @param {HTMLElement} row the one that waited @param {string} key */
function finish(row, key) {
  stop();
  if (key !== row.dataset.current) send({ command: row.dataset.command, key });
}

/** The name of a pressed key as commands are bound to it; "" for one that is no command's, with why. @param {KeyboardEvent} event */
function named(event) {
  if (event.ctrlKey || event.metaKey || event.altKey)
    return ["", "Browsers keep keys with Ctrl, Alt and ⌘ for themselves."];
  if (/^F\d+$/.test(event.key) || ["Tab", " ", "Backspace", "Escape"].includes(event.key))
    return ["", "Browsers and screen readers need this key."];
  return [event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key, ""];
}

document.addEventListener(
  "keydown",
  (event) => {
    if (!waiting || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === "Escape") return stop();
    const { row } = waiting;
    const [key, why] = named(event);
    if (!key) return say(why, true);
    if (waiting.first) return finish(row, `${waiting.first} ${key}`);
    if (!/^[a-zA-Z]$/.test(key)) return finish(row, key);
    waiting.first = key;
    part(row, ".chosen-key").replaceChildren(make("kbd", {}, key), make("span.faint", {}, " and then …"));
    waiting.timer = window.setTimeout(() => finish(row, key), SEQUENCE_MS);
  },
  true,
);

for (const row of page.querySelectorAll("[data-command]")) {
  draw(part(row, ".chosen-key"), row.dataset.current);
  part(row, "[data-change]").addEventListener("click", () => wait(row));
  row.querySelector("[data-reset]")?.addEventListener("click", () => send({ command: row.dataset.command, key: null }));
}
for (const place of page.querySelectorAll(".default-key")) draw(place, place.dataset.spec);
document.getElementById("reset-all")?.addEventListener("click", () => send({ reset: true }));
