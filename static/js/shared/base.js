// Every page: the sheet of keys, going to sections, the theme, menus that close, wide tables, times in the reader's clock.
import { bind, bindElements, listed, shown } from "./keys.js";
import { saveTables } from "./table_csv.js";
import { watchPastes } from "./too_long.js";
import { followTables } from "./wide.js";

/** @param {string} tag */
function node(tag, text = "", className = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

/** Fill the sheet from the registry each time it opens: pages bind keys after this module has run. */
function openSheet() {
  const sheet = /** @type {HTMLDialogElement} */ (document.getElementById("key-sheet"));
  const body = /** @type {HTMLElement} */ (sheet.querySelector("div"));
  body.replaceChildren();
  for (const [group, commands] of listed()) {
    const list = node("dl", "", "keys");
    for (const command of commands) {
      const keys = node("dt");
      for (const part of shown(command.spec)) keys.append(node("kbd", part), " ");
      list.append(keys, node("dd", command.label));
    }
    body.append(node("h2", group), list);
  }
  sheet.showModal();
}

function goToSections() {
  for (const link of document.querySelectorAll(".top nav a[data-go]")) {
    const open = () => link.click();
    bind(`g ${link.dataset.go}`, link.dataset.label ?? "", open, { group: "Go to" });
  }
}

/** The theme is kept in a cookie, so that the server writes it into the first byte and nothing flashes. @param {string} theme */
function chooseTheme(theme) {
  const age = theme === "auto" ? 0 : 365 * 24 * 3600;
  document.cookie = `theme=${theme}; path=/; max-age=${age}; samesite=lax`;
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = theme;
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === theme));
  }
}

/** @param {{target: EventTarget | null}} event */
function closeMenusOutside(event) {
  for (const menu of /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.menu[open]"))) {
    if (!menu.contains(/** @type {Node | null} */ (event.target))) menu.open = false;
  }
}

/** What does not fit into its line is read whole by pointing at it.
 * @param {Event} event */
function tellClipped(event) {
  for (
    let node = /** @type {Element | null} */ (event.target);
    node instanceof HTMLElement;
    node = node.parentElement
  ) {
    if (node.title) return;
    if (node.scrollWidth > node.clientWidth && getComputedStyle(node).textOverflow === "ellipsis") {
      node.title = node.innerText.trim();
      return;
    }
  }
}

bind("?", "This sheet", openSheet, { group: "Everywhere" });
bind("Escape", "Close a menu", () => closeMenusOutside({ target: null }), { group: "Everywhere" });
const search = document.querySelector("input[type=search]");
if (search) bind("/", "Search", () => search.focus());
goToSections();
bindElements();
document.getElementById("key-sheet")?.addEventListener("keydown", (event) => {
  if (event.key === "?") /** @type {HTMLDialogElement} */ (event.currentTarget).close();
});
document.addEventListener("click", closeMenusOutside);
document.addEventListener("mouseover", tellClipped);
document.addEventListener("focusin", tellClipped);
followTables();
saveTables();
watchPastes();
for (const button of document.querySelectorAll("[data-theme-choice]")) {
  button.addEventListener("click", () => chooseTheme(button.dataset.themeChoice ?? ""));
}
for (const button of document.querySelectorAll("[data-open-keys]")) button.addEventListener("click", openSheet);
for (const time of /** @type {NodeListOf<HTMLTimeElement>} */ (document.querySelectorAll("time[datetime]"))) {
  time.title = new Date(time.dateTime).toLocaleString();
}
