// The form of a demonstration: another place has its own tasks. What was chosen meanwhile stays.
import { readAgain } from "../shared/parts.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("show-form"));
const place = /** @type {HTMLSelectElement} */ (form.elements.namedItem("environment"));
let task = "";

async function readTasks() {
  await readAgain(`${location.pathname}?${new URLSearchParams({ environment: place.value })}`, ["what", "own-words"]);
  const tasks = document.getElementById("id_task");
  if (!(tasks instanceof HTMLSelectElement)) return; // an address is written
  if ([...tasks.options].some((one) => one.value === task)) tasks.value = task;
}

form.addEventListener("change", ({ target }) => {
  if (target === place) readTasks();
  else if (target instanceof HTMLSelectElement && target.name === "task") task = target.value;
});
if (place.value !== form.dataset.environment) readTasks(); // chosen before this script was there
