// The keys of the item page. Those of a text field stay its own; Escape leaves it.
import { around } from "../shared/elements.js";
import { bind, bindElements } from "../shared/keys.js";

/**
 * @param {Record<string, (...options: any[]) => void>} run what the keys do, by name
 * @param {{rows: import("./rows.js").Rows, evidence: import("./evidence.js").Evidence, tabs: string[]}} panes
 * @param {{isLost: () => boolean, isOpen: () => boolean, canAnswer: () => boolean}} state whether the work is somebody
 *   else's now, whether something was changed in two ways, and whether it was returned for something
 */
export function bindCommands(run, { rows, evidence, tabs }, { isLost, isOpen, canAnswer }) {
  const cuts = () => rows.field === "instruction";
  const marks = () => rows.field === "rewrite";
  /** The last: whether the key does something here; one that always does has none.
   * @type {[string, string, (event?: Event) => void, (() => boolean)?][]} */
  const keys = [
    ["ArrowRight", "Next step", () => run.step(1)],
    ["ArrowLeft", "Previous step", () => run.step(-1)],
    ["Shift+ArrowRight", "Next part", () => run.part(1)],
    ["Shift+ArrowLeft", "Previous part", () => run.part(-1)],
    ["x", "Cut before the step, or join there", run.cut, cuts],
    ["j", "Next row", () => run.row(1)],
    ["k", "Previous row", () => run.row(-1)],
    ["Enter", "Write in the row; Esc leaves it", run.write],
    ["w", "Next warning", run.warning],
    ["m a", "Mark what is selected as anaphora", () => run.mark("anaphora"), marks],
    ["m e", "Mark the place as ellipsis", () => run.mark("ellipsis"), marks],
    ["t", "Take over", run.takeOver, isLost],
    ["d", "Decide about what was changed in two ways", run.decide, isOpen],
    ["a", "Answer what it was returned for", run.answer, canAnswer],
    ["h", "Marks in the page", () => evidence.toggleMarks()],
    ["/", "Search in the page", () => evidence.search.select()],
    ["n", "Next place found", () => evidence.next(1)],
    ["N", "Previous place found", () => evidence.next(-1)],
  ];
  for (const [spec, label, command, works] of keys) bind(spec, label, command, { works });
  for (const [number, tab] of tabs.entries())
    bind(String(number + 1), `Show the ${tab}`, () => evidence.choose(tab), { group: "Views" });
  bindElements();
  bind("Ctrl+z", "Undo", run.undo); // listed here, pressed below: the registry leaves keys with Ctrl to the browser
  bind("Ctrl+Shift+z", "Redo", run.redo);
  bind("Ctrl+Enter", "Submit", run.submit);
  document.addEventListener("keydown", (event) => withControl(event, run));
  rows.root.addEventListener("keydown", (event) => leave(event));
}

/** @param {KeyboardEvent} event @param {Record<string, (...options: any[]) => void>} run */
function withControl(event, run) {
  if (
    !(event.ctrlKey || event.metaKey) ||
    event.altKey ||
    event.defaultPrevented ||
    document.querySelector("dialog[open]")
  )
    return;
  const inText = around(event, "textarea, input") ?? null;
  const key = event.key.toLowerCase();
  const command =
    key === "enter"
      ? run.submit
      : inText
        ? null
        : key === "z"
          ? event.shiftKey
            ? run.redo
            : run.undo
          : key === "y"
            ? run.redo
            : null;
  if (!command) return;
  event.preventDefault();
  command();
}

/**
 * Escape in a text goes back to its row, so that j and k go on from there; what was selected stays so.
 * @param {any} event
 */
function leave(event) {
  if (event.key !== "Escape" || event.target.tagName !== "TEXTAREA" || event.isComposing) return;
  event.preventDefault();
  around(event, ".part-row")?.focus({ preventScroll: true });
}
