// The window of an episode as it stands: a picture to look at and, for whoever drives, to act in by mouse and by name.
import { make } from "../shared/elements.js";

/**
 * @typedef {{
 *   node_id: string,
 *   kind: string,
 *   value: string,
 *   options: string[] | null,
 *   left: number,
 *   top: number,
 *   width: number,
 *   height: number,
 * }} Field
 */
/**
 * @typedef {{
 *   url: string,
 *   instruction: string,
 *   width: number,
 *   height: number,
 *   fields: Field[],
 *   names: [string, string][],
 *   is_free?: boolean,
 * }} SeenWindow
 */
/** @typedef {{operation: string, node_id?: string | null, value?: string, point?: [number, number] | null}} Wanted */

export const OPERATIONS = ["CLICK", "TYPE", "SELECT", "PRESS", "HOVER", "SCROLL", "DRAG", "SAY", "STOP"];
const SCROLLED_MS = 250; // turns of a wheel within it are one

export class RemoteWindow {
  /** @type {HTMLElement | null} */
  #editor = null;

  /** @param {HTMLElement} root @param {{url: string, act: (action: Wanted) => boolean}} options `act`: have an action done; whether
   * that may be */
  constructor(root, { url, act }) {
    this.root = root;
    this.url = url;
    this.act = (/** @type {Wanted} */ action) => {
      if (act(action)) this.#editor?.remove();
    };
    this.which = "";
    this.wheel = 0;
    this.wheeling = 0;
  }

  /** Whether what was asked for last is not done yet. */
  get isBusy() {
    return this.root.ariaBusy === "true";
  }

  set isBusy(busy) {
    this.root.ariaBusy = busy ? "true" : null;
  }

  focusWords() {
    /** @type {HTMLElement | null} */ (this.root.querySelector(".finish input"))?.focus();
  }

  /** @param {import("./drive.js").Drive | null} drive null: there is no window to see @param {boolean} driving whether it is acted in here */
  show(drive, driving) {
    this.root.hidden = !drive;
    const which = drive ? `${drive.id} ${drive.number} ${driving}` : "";
    if (drive?.is_acting || which === this.which) return;
    this.which = which;
    this.isBusy = false;
    if (!drive) return this.root.replaceChildren();
    const had = this.root.contains(document.activeElement);
    this.root.replaceChildren(
      driving && drive.shows && drive.window.is_free
        ? this.#finish(drive.window)
        : make("p.instruction", {}, make("b", {}, "Asked for: "), drive.window.instruction),
      make("div.address.mono", {}, drive.window.url),
      this.#picture(drive, driving),
      ...(driving ? [this.#form(drive.window)] : []),
    );
    if (had) /** @type {HTMLElement | null} */ (this.root.querySelector(".picture"))?.focus();
  }

  /** Where nobody but a person knows when it is done: in whose words. @param {SeenWindow} page */
  #finish(page) {
    const words = make("input", {
      type: "text",
      maxlength: 2000,
      autocomplete: "off",
      placeholder: "as one would ask",
    });
    words.value = page.instruction;
    const form = make(
      "form.finish",
      {},
      make("label", {}, "What you show ", words),
      make("button.btn.primary", {}, "Done: keep it ", make("kbd", {}, "u")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.act({ operation: "STOP", value: words.value });
    });
    return form;
  }

  /** @param {import("./drive.js").Drive} drive @param {boolean} driving */
  #picture({ number, window: page }, driving) {
    const image = make("img", {
      src: `${this.url}window/?n=${number}`,
      alt: "The page of the episode; what can be done with the mouse can also be done with the fields below it",
      width: page.width,
      height: page.height,
      draggable: "false",
    });
    const frame = make("div.picture", { tabindex: -1 }, image);
    frame.style.aspectRatio = `${page.width} / ${page.height}`;
    frame.style.maxWidth = `${page.width * 2}px`;
    if (!driving) return frame;
    frame.classList.add("acted");
    image.addEventListener("click", (event) => {
      const x = Math.round((event.offsetX / image.clientWidth) * page.width);
      const y = Math.round((event.offsetY / image.clientHeight) * page.height);
      this.act({ operation: "CLICK", point: [x, y] });
    });
    frame.addEventListener("wheel", (event) => this.#turned(event), { passive: false });
    for (const field of page.fields) frame.append(this.#field(field, page, frame));
    return frame;
  }

  /** @param {WheelEvent} event */
  #turned(event) {
    event.preventDefault();
    this.wheel += event.deltaY;
    window.clearTimeout(this.wheeling);
    this.wheeling = window.setTimeout(() => {
      const pixels = Math.round(this.wheel);
      this.wheel = 0;
      if (pixels) this.act({ operation: "SCROLL", value: String(pixels) });
    }, SCROLLED_MS);
  }

  /** A field in the picture: a click on it opens what is written into it. @param {Field} field @param {SeenWindow} page @param {HTMLElement} frame */
  #field(field, page, frame) {
    const what = field.options ? "Choose" : "Write";
    const shown = field.kind === "password" ? "" : field.value;
    const made = make("button.field", { type: "button", "aria-label": `${what}: ${shown || "an empty field"}` });
    place(made, field, page);
    made.addEventListener("click", () => this.#edit(field, page, frame));
    return made;
  }

  /** @param {Field} field @param {SeenWindow} page @param {HTMLElement} frame */
  #edit(field, page, frame) {
    this.#editor?.remove();
    const input = field.options
      ? make("select", { "aria-label": "Choose" }, ...field.options.map((option) => make("option", {}, option)))
      : make("input", { type: "text", "aria-label": "Write", autocomplete: "off", spellcheck: "false" });
    input.value = field.value;
    const editor = make("form.editor", {}, input, make("button.btn.primary", {}, field.options ? "Choose" : "Write"));
    editor.addEventListener("submit", (event) => {
      event.preventDefault();
      this.act({ operation: field.options ? "SELECT" : "TYPE", node_id: field.node_id, value: input.value });
    });
    editor.addEventListener("keydown", (event) => {
      if (event.key === "Escape") editor.remove();
    });
    place(editor, { ...field, width: Math.max(field.width, page.width / 3) }, page);
    frame.append(editor);
    this.#editor = editor;
    input.focus();
    if (input instanceof HTMLInputElement) input.select();
  }

  /** Every action, by name: what a mouse cannot do, and for those who use none. @param {SeenWindow} page */
  #form(page) {
    const operation = make(
      "select",
      { "aria-label": "Operation" },
      ...OPERATIONS.map((name) => make("option", {}, name)),
    );
    const element = make(
      "select",
      { "aria-label": "Element" },
      make("option", { value: "" }, "no element"),
      ...page.names.map(([node, name]) => make("option", { value: node }, name)),
    );
    const value = make("input", { type: "text", "aria-label": "Value", placeholder: "Value", autocomplete: "off" });
    const form = make("form.other", {}, operation, element, value, make("button.btn", {}, "Do"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.act({ operation: operation.value, node_id: element.value || null, value: value.value });
    });
    const keys = ["Enter", "Tab", "Escape"].map((key) => {
      const made = make("button.btn", { type: "button", title: `Press ${key} in the page` }, key);
      made.addEventListener("click", () => this.act({ operation: "PRESS", value: key }));
      return made;
    });
    return make("div.row", {}, form, ...keys);
  }
}

/** @param {HTMLElement} element @param {{left: number, top: number, width: number, height: number}} box @param {SeenWindow} page */
function place(element, box, page) {
  const share = (/** @type {number} */ part, /** @type {number} */ whole) => `${(100 * part) / whole}%`;
  Object.assign(element.style, {
    left: share(Math.min(box.left, page.width - box.width), page.width),
    top: share(box.top, page.height),
    width: share(box.width, page.width),
    height: share(box.height, page.height),
  });
}
