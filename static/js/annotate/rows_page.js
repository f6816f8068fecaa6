// Pages that list rows and do nothing else: keys walk through them.
import { walkRows } from "../shared/rows.js";

walkRows(/** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-row]")]), "row");
