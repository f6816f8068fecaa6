// The form of a talk: another agent takes other planners. What was chosen meanwhile stays.
import { readAgain } from "../shared/parts.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("talk-form"));
const agent = /** @type {HTMLSelectElement} */ (form.elements.namedItem("recipe"));

function readPlanners() {
  history.replaceState(null, "", `?${new URLSearchParams({ recipe: agent.value })}`); // parts are read from there later
  return readAgain(location.href, ["planner", "may"]);
}

agent.addEventListener("change", readPlanners);
if (agent.value !== form.dataset.recipe) readPlanners(); // chosen before this script was there

// The button that prepares a planner sends the form along, so that it comes back as it was.
document.getElementById("prepare-form")?.addEventListener("formdata", ({ formData }) => {
  for (const [name, value] of new FormData(form)) if (!formData.has(name)) formData.append(name, value);
});
