// The screenshot of a step. A region of it is named as one of a page is, in pixels of the picture; it has no elements,
// but may know where they were, and scrolls with the panel around it.
import { make } from "../shared/elements.js";

/** @typedef {import("../snapshot/frame.js").Measured} Measured */
/** @typedef {import("../snapshot/frame.js").Box} Box */

/** @typedef {import("../snapshot/frame.js").Mark} Mark */
/** How wide the window was, and where marked elements were in it: left, top, width, height. @typedef {{width: number, boxes: Record<string, number[]>}} WindowPlace */

export class Picture {
  #marks = make("div.picture-marks");
  #chip = make("span.region-chip");
  #marked = make("div.region-box", { hidden: true }, this.#chip);
  #image;

  /** @param {HTMLElement} holder as large as the picture in it */
  constructor(holder) {
    this.holder = holder;
    this.#image = /** @type {HTMLImageElement} */ (holder.querySelector("img"));
    holder.append(this.#marks, this.#marked);
  }

  /** @param {string | null} address */
  show(address) {
    this.holder.hidden = !address;
    if (address && this.#image.getAttribute("src") !== address) {
      this.#marks.replaceChildren();
      this.#image.src = address;
    }
  }

  /** @param {Mark[]} marks the most important last @param {WindowPlace | null} place null: nobody knows where elements were */
  async setMarks(marks, place) {
    await this.#image.decode().catch(() => null);
    const { naturalWidth, naturalHeight } = this.#image;
    if (!place?.width || !naturalWidth) return this.#marks.replaceChildren();
    const height = (place.width / naturalWidth) * naturalHeight;
    const share = (/** @type {number} */ part, /** @type {number} */ whole) => `${(100 * part) / whole}%`;
    const boxes = marks.flatMap((mark) => {
      const found = place.boxes[mark.id];
      if (!found) return [];
      const [left, top, width, tall] = found;
      const chip = make("span", {}, mark.label);
      const box = make("div", { "data-kind": mark.kind, "data-node": mark.id }, chip);
      Object.assign(box.style, {
        left: share(left, place.width),
        top: share(top, height),
        width: share(width, place.width),
        height: share(tall, height),
      });
      return [box];
    });
    return this.#marks.replaceChildren(...boxes);
  }

  /** @param {string | null} node */
  point(node) {
    for (const box of this.#marks.children) box.classList.toggle("pointed", box.getAttribute("data-node") === node);
  }

  /** @param {string} node */
  bringMark(node) {
    this.#marks.querySelector(`[data-node="${CSS.escape(node)}"]`)?.scrollIntoView({ block: "nearest" });
  }

  /** How large a pixel of the picture is shown. */
  get scale() {
    return this.#image.clientWidth / this.#image.naturalWidth || 1;
  }

  /** @returns {Promise<Measured | null>} null where there is no picture */
  async measure() {
    if (this.holder.hidden) return null;
    await this.#image.decode().catch(() => null);
    const { naturalWidth: width, naturalHeight: height } = this.#image;
    return width ? { x: 0, y: 0, layout: width, bar: 0, width, height, box: null } : null;
  }

  /** @param {number} left @param {number} top */
  scrollBy(left, top) {
    this.holder.parentElement?.scrollBy(left * this.scale, top * this.scale);
  }

  bring() {
    this.holder.scrollIntoView({ block: "nearest" });
  }

  layOut() {} // it is as wide as it is
  scrollTo() {} // it has no elements

  /** Outline a rectangle and bring it into view, or none. @param {Box | null} region @param {string} [label] */
  setRegion(region, label = "") {
    this.#marked.hidden = !region;
    if (!region) return;
    const { naturalWidth, naturalHeight } = this.#image;
    this.#chip.textContent = label;
    Object.assign(this.#marked.style, {
      left: `${(region.x / naturalWidth) * 100}%`,
      top: `${(region.y / naturalHeight) * 100}%`,
      width: `${(region.width / naturalWidth) * 100}%`,
      height: `${(region.height / naturalHeight) * 100}%`,
    });
    this.#marked.scrollIntoView({ block: "nearest" });
  }
}
