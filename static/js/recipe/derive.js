// The form that derives a recipe: a search among its settings, whose stages are folded. Without it they open by hand.
import { the } from "../shared/elements.js";

const finder = the(document, "#finder");
const find = /** @type {HTMLInputElement} */ (the(document, "#find"));
const stages = [.../** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.stage-fields"))];
const settings = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".stage-fields .setting"))];
/** @type {Map<HTMLDetailsElement, boolean> | null} */
let before = null; // which stages were open before the search

find.addEventListener("input", () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length) before ??= new Map(stages.map((stage) => [stage, stage.open]));
  for (const setting of settings) {
    const said = `${the(setting, "label").textContent} ${the(setting, ".help").textContent}`.toLowerCase();
    setting.hidden = !words.every((word) => said.includes(word));
  }
  for (const stage of stages) {
    const fits = stage.querySelector(".setting:not([hidden])") !== null;
    stage.hidden = !fits;
    stage.open = words.length ? fits : (before?.get(stage) ?? stage.open);
  }
  if (!words.length) before = null;
  const shown = settings.filter((setting) => !setting.hidden).length;
  the(finder, "#found").textContent = words.length ? `${shown} of ${settings.length} settings` : "";
});
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") event.preventDefault(); // it searches as one types; nothing is saved by it
});
finder.hidden = false;
