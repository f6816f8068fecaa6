// The study form: choosing a dataset shows its splits; nothing that is typed is lost.
import { readAgain } from "../shared/parts.js";

const dataset = /** @type {HTMLSelectElement} */ (document.querySelector("#id_dataset"));
dataset.addEventListener("change", () => {
  readAgain(`${location.pathname}?dataset=${encodeURIComponent(dataset.value)}`, ["splits"]);
});
