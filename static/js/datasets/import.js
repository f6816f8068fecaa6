// The import form: an upload with its progress, and choosing a path on the server without losing what is typed.
import { around } from "../shared/elements.js";
import { exchange, readAgain } from "../shared/parts.js";

const MEGABYTE = 1000 * 1000;

/** @param {number} bytes */
function size(bytes) {
  return bytes < 1000 * MEGABYTE ? `${Math.round(bytes / MEGABYTE)} MB` : `${(bytes / MEGABYTE / 1000).toFixed(2)} GB`;
}

/** Show that the fields could not be sent, or what the server said about them; the chosen file is kept. @param {string} html */
function showAnswer(html) {
  const files = /** @type {HTMLInputElement} */ (document.querySelector("#id_upload")).files;
  exchange(new DOMParser().parseFromString(html, "text/html"), ["import-form"]);
  /** @type {HTMLInputElement} */ (document.querySelector("#id_upload")).files = files;
  listen();
  document.querySelector(".errorlist")?.scrollIntoView({ block: "center" });
}

/** @param {ParentNode} root @param {string} selector an element that the form always has */
function part(root, selector) {
  return /** @type {HTMLElement} */ (root.querySelector(selector));
}

/** @param {XMLHttpRequest} request @param {HTMLElement} box */
function follow(request, box) {
  const begun = performance.now();
  const text = part(box, "span");
  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    part(box, "rect").setAttribute("width", String((1000 * event.loaded) / event.total));
    const seconds = (performance.now() - begun) / 1000;
    const rate = event.loaded / Math.max(seconds, 0.1);
    const left = Math.round((event.total - event.loaded) / rate);
    text.textContent =
      event.loaded === event.total
        ? "Uploaded; the server is storing it"
        : `${size(event.loaded)} of ${size(event.total)} · ${size(rate)}/s · about ${left} s left`;
  });
  part(box, "button").addEventListener("click", () => request.abort(), { once: true });
}

/** By XMLHttpRequest, as `fetch` tells no progress of what it sends. @param {HTMLFormElement} form */
function send(form) {
  const box = part(form, "#upload");
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button.primary"));
  const request = new XMLHttpRequest();
  /** @param {string} message */
  const stop = (message) => {
    button.disabled = false;
    part(box, "span").textContent = message;
  };
  follow(request, box);
  request.addEventListener("load", () => {
    if (request.status === 413) stop(request.responseText);
    else if (new URL(request.responseURL).pathname !== new URL(form.action).pathname)
      location.assign(request.responseURL);
    else showAnswer(request.responseText);
  });
  request.addEventListener("abort", () => stop("Stopped. Nothing was imported."));
  request.addEventListener("error", () => stop("The connection broke before the upload was complete. Try again."));
  request.open("POST", form.action);
  request.send(new FormData(form));
  box.hidden = false;
  button.disabled = true;
}

function listen() {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("import-form"));
  form.addEventListener("submit", (event) => {
    const file = /** @type {HTMLInputElement} */ (form.querySelector("#id_upload")).files?.[0];
    if (!file) return; // a path on the server: an ordinary form
    event.preventDefault();
    if (file.size > Number(form.dataset.maxBytes)) {
      const box = part(form, "#upload");
      box.hidden = false;
      part(box, "span").textContent = `${size(file.size)} is more than can be uploaded; put it on the server.`;
      return;
    }
    send(form);
  });
}

document.addEventListener("click", (event) => {
  const use = around(event, "[data-use]");
  const folder = around(event, "[data-folder]");
  if (use) /** @type {HTMLInputElement} */ (document.querySelector("#id_path")).value = use.dataset.use ?? "";
  if (folder) {
    event.preventDefault();
    readAgain(/** @type {HTMLAnchorElement} */ (folder).href, ["server-files", "import-paths"]);
  }
});
listen();
