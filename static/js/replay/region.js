// Naming a rectangle of the shown page: drawn by mouse, or by keys from the box of an element on. It lies over the frame
// and not in it, so that the recorded page sees nothing of it; the frame only says where it is scrolled to.
import { make } from "../shared/elements.js";

const NUDGE = 4; // pixels of the page for a press of an arrow
const SMALLEST = 4;
const MARGIN = 3; // around an element whose box is taken

/** Of what a region is named: a recorded page, or its picture. @typedef {import("../snapshot/frame.js").SnapshotFrame | import("./picture.js").Picture} Shown */
/** @typedef {import("../snapshot/frame.js").Measured} Measured */
/** @typedef {import("../snapshot/frame.js").Box} Box */
/** @typedef {Box & {page: string, layout_width: number, page_width: number, page_height: number}} Region */
/** @typedef {{key: string, label: string, node: string}} Named an element whose box may be taken */

export class RegionEditor {
  /** @type {Measured} */
  #measured;
  /** @type {Box | null} */
  #box = null;
  /** Where in the page the mouse was pressed. @type {{x: number, y: number} | null} */
  #pressed = null;
  /** @type {(box: Box | null | undefined) => void} */
  #settle = () => {};
  #drawn = make("div.region-box", { hidden: true });
  #size = make("span.mono", { role: "status" });

  /**
   * @param {HTMLElement} holder the element that holds the frames
   * @param {Shown} frame
   * @param {Measured} measured
   * @param {Named[]} named the first that is there is where the keys begin
   */
  constructor(holder, frame, measured, named) {
    this.holder = holder;
    this.frame = frame;
    this.#measured = measured;
    this.named = named;
    const button = (/** @type {string} */ text, /** @type {string} */ key, /** @type {() => void} */ run) => {
      const made = make("button.btn.small", { type: "button" }, `${text} `, make("kbd", {}, key));
      made.addEventListener("click", run);
      return made;
    };
    this.bar = make(
      "div.region-bar",
      { role: "group", "aria-label": "Region" },
      button("Keep", "⏎", () => this.#keep()),
      ...named.map((one) => button(one.label, one.key, () => this.#take(one.node))),
      button("None", "Del", () => this.#settle(null)),
      button("Leave", "Esc", () => this.#settle(undefined)),
      this.#size,
      make("span.faint", {}, "drag · arrows move · ⇧ arrows resize"),
    );
    this.cover = make("div.region-cover", { tabindex: 0, role: "group", "aria-label": "Region of the page" });
    this.cover.append(this.#drawn);
    this.root = make("div.region-edit", {}, this.cover, this.bar);
  }

  /** Resolves to the rectangle; null: none is to be named any more; undefined: all stays as it was. @param {Box | null} box to begin with @returns {Promise<Box | null | undefined>} */
  async edit(box) {
    const { promise, resolve } = Promise.withResolvers();
    this.#settle = resolve;
    this.#listen();
    this.holder.append(this.root);
    this.cover.focus();
    const resized = new ResizeObserver(() => this.#look());
    resized.observe(this.holder);
    if (box) await this.#set(box);
    else if (this.named.length) await this.#take(this.named[0].node);
    try {
      return await promise;
    } finally {
      resized.disconnect();
      this.root.remove();
    }
  }

  /** Leave everything as it was: another step is shown. */
  leave() {
    this.#settle(undefined);
  }

  #listen() {
    this.root.addEventListener("keydown", (event) => this.#press(event));
    this.cover.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.cover.setPointerCapture(event.pointerId);
      this.#pressed = this.#point(event);
    });
    this.cover.addEventListener("pointermove", (event) => this.#drag(event));
    this.cover.addEventListener("pointerup", (event) => {
      this.#drag(event);
      this.#pressed = null;
    });
    this.cover.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.#scroll(event.deltaX / this.frame.scale, event.deltaY / this.frame.scale);
      },
      { passive: false },
    );
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onButton = event.target instanceof HTMLButtonElement;
    if (event.key === "Tab" || (onButton && ["Enter", " "].includes(event.key))) return;
    event.stopPropagation(); // the replay has other uses for these keys
    event.preventDefault();
    const named = this.named.find(({ key }) => key === event.key);
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (named) this.#take(named.node);
    else if (arrow) this.#nudge(arrow[0] * NUDGE, arrow[1] * NUDGE, event.shiftKey);
    else if (event.key === "Enter") this.#keep();
    else if (event.key === "Escape") this.#settle(undefined);
    else if (["Delete", "Backspace"].includes(event.key)) this.#settle(null);
    else if (event.key === "PageDown") this.#scroll(0, this.cover.clientHeight / this.frame.scale / 2);
    else if (event.key === "PageUp") this.#scroll(0, -this.cover.clientHeight / this.frame.scale / 2);
  }

  #keep() {
    this.#settle(this.#box ?? undefined);
  }

  /** @param {number} right @param {number} down @param {boolean} resizes */
  #nudge(right, down, resizes) {
    const { x, y, width, height } = this.#box ?? { x: this.#measured.x, y: this.#measured.y, width: 80, height: 40 };
    if (resizes)
      this.#set({ x, y, width: Math.max(SMALLEST, width + right), height: Math.max(SMALLEST, height + down) });
    else this.#set({ x: x + right, y: y + down, width, height });
  }

  /** The box of an element. @param {string} node */
  async #take(node) {
    this.frame.scrollTo(node);
    const measured = await this.frame.measure(node);
    if (!measured?.box) {
      this.#size.textContent = "this element is not in the page";
      return;
    }
    this.#measured = measured;
    const { x, y, width, height } = measured.box;
    await this.#set({ x: x - MARGIN, y: y - MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN });
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    if (!this.#pressed) return;
    const [from, to] = [this.#pressed, this.#point(event)];
    const [width, height] = [Math.abs(to.x - from.x), Math.abs(to.y - from.y)];
    if (width < SMALLEST || height < SMALLEST) return; // a click
    this.#box = this.#inPage({ x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width, height });
    this.#draw();
  }

  /** The place in the page under the mouse. @param {MouseEvent} event */
  #point({ clientX, clientY }) {
    const { left, top } = this.cover.getBoundingClientRect();
    const { scale } = this.frame;
    return { x: (clientX - left) / scale + this.#measured.x, y: (clientY - top) / scale + this.#measured.y };
  }

  /** Take a rectangle, and bring it into view. @param {Box} box */
  async #set(box) {
    this.#box = this.#inPage(box);
    const { x, y, width, height } = this.#box;
    const { scale } = this.frame;
    const [wide, high] = [this.cover.clientWidth / scale, this.cover.clientHeight / scale];
    const [left, top] = [x - this.#measured.x, y - this.#measured.y];
    const over = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ room) =>
      at < 0 || size > room ? at : Math.max(0, at + size - room);
    const by = [over(left, width, wide), over(top, height, high)];
    if (by[0] || by[1]) await this.#scroll(by[0], by[1]);
    this.#draw();
  }

  /** @param {Box} box @returns {Box} whole pixels that the page has */
  #inPage(box) {
    const { width: pageWidth, height: pageHeight } = this.#measured;
    const width = Math.round(Math.min(box.width, pageWidth));
    const height = Math.round(Math.min(box.height, pageHeight));
    const x = Math.round(Math.max(0, Math.min(box.x, pageWidth - width)));
    const y = Math.round(Math.max(0, Math.min(box.y, pageHeight - height)));
    return { x, y, width, height };
  }

  /** @param {number} left @param {number} top */
  async #scroll(left, top) {
    this.frame.scrollBy(left, top);
    await this.#look();
  }

  async #look() {
    this.#measured = (await this.frame.measure()) ?? this.#measured;
    this.#draw();
  }

  #draw() {
    const box = this.#box;
    this.#drawn.hidden = !box;
    if (!box) return;
    const { scale } = this.frame;
    Object.assign(this.#drawn.style, {
      left: `${(box.x - this.#measured.x) * scale}px`,
      top: `${(box.y - this.#measured.y) * scale}px`,
      width: `${box.width * scale}px`,
      height: `${box.height * scale}px`,
    });
    this.#size.textContent = `${box.width} × ${box.height} at ${box.x}, ${box.y}`;
  }
}

/** A rectangle with the layout that it is measured in. @param {Box} box @param {string} page @param {Measured} measured @returns {Region} */
export function regionOf(box, page, { layout, width, height }) {
  return { page, ...box, layout_width: layout, page_width: width, page_height: height };
}
