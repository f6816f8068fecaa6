// The study form: choosing a dataset shows its splits and websites, and every choice what it would take; nothing typed is lost.
import { readAgain } from "../shared/parts.js";

const form = /** @type {HTMLFormElement} */ (document.querySelector(".study-form"));
const OF_DATASET = ["splits", "websites"];
const ASKED = ["dataset", "recipes", ...OF_DATASET, "limit", "connection", "encoder", "overrides", "preset"];

form.addEventListener("change", (event) => {
  const { name } = /** @type {HTMLInputElement} */ (event.target);
  if (!ASKED.includes(name)) return;
  const asked = new URLSearchParams();
  for (const [key, value] of new FormData(form)) {
    if (ASKED.includes(key) && !(name === "dataset" && OF_DATASET.includes(key))) asked.append(key, String(value));
  }
  if (!asked.has("recipes")) asked.append("recipe", ""); // none, not the one that is chosen first
  readAgain(`${location.pathname}?${asked}`, name === "dataset" ? [...OF_DATASET, "expected"] : ["expected"]);
});
