// The form of live goals: every choice shows what it would take, and another environment its tasks.
import { readAgain } from "../shared/parts.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("goals-form"));
let answered = Promise.resolve(); // one question after the other: an older answer must not come last
const ASKED = ["environment", "task_set", "tasks", "episodes", "steps", "seconds"];

form.addEventListener("change", (event) => {
  const { name } = /** @type {HTMLInputElement} */ (event.target);
  if (!ASKED.includes(name)) return;
  const changed = name === "environment";
  answered = answered.then(() => {
    const asked = new URLSearchParams();
    for (const [key, value] of new FormData(form)) {
      if (ASKED.includes(key) && (!changed || key === "environment")) asked.append(key, String(value));
    }
    return readAgain(
      `${location.pathname}?${asked}`,
      changed ? ["task-sets", "known-tasks", "their-user", "expected"] : ["expected"],
    );
  });
});
