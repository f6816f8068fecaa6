// Shows rendered pages in sandboxed frames: one visible, others loading behind it, so that stepping never flickers.
// The frames are hostile. They are on another origin (or have no scripts at all); the only contact is messages
// {v: 1, type, ...}, taken only from our own frames and checked field by field.

/** @typedef {{id: string, kind: "gold" | "predicted" | "candidate", label: string}} Mark */
/** @typedef {{sandbox: string, scripted: boolean, marks?: Mark[], scrollTo?: string | null}} View */
/**
 * @typedef {{
 *   url: string,
 *   iframe: HTMLIFrameElement,
 *   scripted: boolean,
 *   ready: Promise<unknown>,
 *   settle: (value?: unknown) => void,
 *   layout: number | null,
 *   scale: number,
 * }} Frame `layout`: how wide the page's window was when it was recorded; null where that is not known
 */
/** @typedef {{x: number, y: number, width: number, height: number}} Box in pixels of the page, from its top left corner */
/** How a page is laid out: where it is scrolled to, the width of its window and of the scroll bar beside it, its whole
 * size, and the place of the element that was asked for. @typedef {{x: number, y: number, layout: number, bar: number, width: number, height: number, box: Box | null}} Measured */

const KEYS = /^(?:[a-zA-Z0-9?/]|Arrow(?:Left|Right|Up|Down)|Escape)$/; // those that commands of the app may have
const MAX_FRAMES = 4; // the page shown, the ones before and after it, and one on its way
const MARKED_WITHIN_MS = 250; // how long the old page stays while the new one draws its marks
const MEASURED_WITHIN_MS = 2000;
const ENLARGED = 1.5; // at most, where there is more room than the page was recorded in
const SANDBOXES = new Set(["", "allow-scripts"]); // anything more would let a page act as its origin

/** @type {number | null} */
let barWidth = null;

export class SnapshotFrame {
  /** Called with (key, {shift}) for keys pressed inside a page. @type {((key: string, options: {shift: boolean}) => void) | null} */
  onKey = null;
  /** Called with the node id of an element that was clicked. @type {((id: string) => void) | null} */
  onPick = null;
  /** Called with the node id under the pointer, or null. @type {((id: string | null) => void) | null} */
  onHover = null;
  /** Called with ids of marks that the page does not have, or that are drawn on something around them. @type {((found: {missing: string[], hidden: string[]}) => void) | null} */
  onMarked = null;
  /** Called with ids of gold and predicted elements that are above or below what is seen of the page. @type {((found: {above: string[], below: string[]}) => void) | null} */
  onOutside = null;
  /** Called when the address shown has run out: ask the server for a new one and show that. @type {(() => void) | null} */
  onExpired = null;

  #container;
  #title;
  #resized;
  /** @type {Frame[]} the most recently used first */
  #frames = [];
  /** @type {Frame | null} */
  #shown = null;
  /** @type {Frame | null} the one that the last call of `show` asked for */
  #wanted = null;
  /** @type {Mark[]} */
  #marks = [];
  #turn = 0;
  /** @type {(value?: unknown) => void} */
  #marked = () => {};
  /** Asked, and not answered yet. @type {Map<number, (measured: Measured | null) => void>} */
  #measuring = new Map();
  #asked = 0;
  /** Of the page's window, where it is not that of the container. @type {number | null} */
  #width = null;

  /**
   * @param {HTMLElement} container gets the frames; it needs a height
   * @param {{title?: string}} [options] accessible name of the frames
   */
  constructor(container, { title = "Recorded page" } = {}) {
    this.#container = container;
    this.#title = title;
    if (getComputedStyle(container).position === "static") container.style.position = "relative";
    window.addEventListener("message", this.#receive);
    this.#resized = new ResizeObserver(() => this.#frames.forEach((frame) => this.#size(frame)));
    this.#resized.observe(container);
  }

  /**
   * Show a page; the one before stays until this one is there. Resolves to false when another call overtook this one.
   * Without scripts the marks are part of the address, and `marks` is ignored. `scrollTo`: id of the mark to bring
   * into view, by default the gold, else the predicted one; null leaves the page where it is.
   * @param {string} url @param {View} view
   */
  async show(url, { sandbox, scripted, marks = [], scrollTo }) {
    const turn = ++this.#turn;
    const frame = this.#frame(url, sandbox, scripted);
    this.#wanted = frame;
    this.#marks = marks;
    await frame.ready;
    if (turn !== this.#turn) return false;
    await this.#mark(frame, scrollTo === undefined ? this.#first() : scrollTo);
    if (turn !== this.#turn) return false;
    this.#swap(frame);
    return true;
  }

  /** Replace the marks of the page shown. False when it has no scripts: show a new address instead. @param {Mark[]} marks @param {{scrollTo?: string | null}} [options] */
  setMarks(marks, { scrollTo = null } = {}) {
    this.#marks = marks;
    if (!this.#shown?.scripted) return false;
    this.#mark(this.#shown, scrollTo);
    return true;
  }

  /** Bring an element of the page shown into view. @param {string} id */
  scrollTo(id) {
    this.#send(this.#shown, { type: "scroll", id });
  }

  /** Tint an element of the page shown, or none. @param {string | null} id */
  hover(id) {
    this.#send(this.#shown, { type: "hover", id });
  }

  /** How the page shown is laid out, and where an element is; null where it does not say. @param {string | null} [id] @returns {Promise<Measured | null>} */
  measure(id = null) {
    if (!this.#shown?.scripted) return Promise.resolve(null);
    const turn = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers();
    this.#measuring.set(turn, resolve);
    window.setTimeout(() => this.#answer(turn, null), MEASURED_WITHIN_MS);
    this.#send(this.#shown, { type: "measure", id, turn });
    return promise;
  }

  /** Scroll the page shown by pixels of its own. @param {number} left @param {number} top */
  scrollBy(left, top) {
    this.#send(this.#shown, { type: "scrollby", by: [left, top] });
  }

  /** Bring the page into the window around it. */
  bring() {
    this.#container.scrollIntoView({ block: "nearest" });
  }

  /** Outline a rectangle of the page shown and bring it into view, or none. @param {Box | null} region @param {string} [label] */
  setRegion(region, label = "") {
    const told = region && { x: region.x, y: region.y, width: region.width, height: region.height, label };
    this.#send(this.#shown, { type: "region", region: told });
  }

  /**
   * Lay the page shown out in a window of this width; null: as it was recorded, or, where that is not known, as wide as
   * the container is. A page is shown as large as the container has room for it.
   * @param {number | null} width
   */
  layOut(width) {
    this.#width = width;
    if (this.#shown) this.#size(this.#shown);
  }

  /** How large a pixel of the page is shown. */
  get scale() {
    return this.#shown ? this.#scaleOf(this.#widthOf(this.#shown)) : 1;
  }

  /** @param {Frame} frame */
  #widthOf(frame) {
    return (frame === this.#shown ? this.#width : null) ?? frame.layout;
  }

  /** @param {number | null} width */
  #scaleOf(width) {
    return width === null ? 1 : Math.min(ENLARGED, this.#container.clientWidth / width) || 1;
  }

  /** @param {Frame} frame */
  #size(frame) {
    const width = this.#widthOf(frame);
    const scale = this.#scaleOf(width);
    Object.assign(frame.iframe.style, {
      width: width === null ? "100%" : `${width}px`,
      height: `${100 / scale}%`,
      transform: width === null ? "" : `scale(${scale})`,
    });
    if (frame.scale !== scale) this.#send(frame, { type: "scale", scale }); // marks stay readable
    frame.scale = scale;
  }

  /** Load a page behind the one shown, so that showing it takes no time. Resolves when it is there. @param {string} url @param {View} view */
  prefetch(url, { sandbox, scripted }) {
    return this.#frame(url, sandbox, scripted).ready;
  }

  /** Remove the frames and stop listening. */
  destroy() {
    window.removeEventListener("message", this.#receive);
    this.#resized.disconnect();
    for (const frame of this.#frames) frame.iframe.remove();
    this.#frames = [];
    this.#shown = this.#wanted = null;
  }

  /** The frame of an address: one that is there, or a new hidden one. Forgets the least recently used. @param {string} url @param {string} sandbox @param {boolean} scripted @returns {Frame} */
  #frame(url, sandbox, scripted) {
    const known = this.#frames.findIndex((frame) => frame.url === url);
    const frame = known < 0 ? this.#load(url, sandbox, scripted) : this.#frames.splice(known, 1)[0];
    this.#frames.unshift(frame);
    while (this.#frames.length > MAX_FRAMES) {
      const last = this.#frames.findLastIndex((candidate) => candidate !== this.#shown);
      this.#frames.splice(last, 1)[0].iframe.remove(); // a removed frame gives its memory back
    }
    return frame;
  }

  /** @param {string} url @param {string} sandbox @param {boolean} scripted @returns {Frame} */
  #load(url, sandbox, scripted) {
    if (!SANDBOXES.has(sandbox)) throw new Error(`A recorded page must not get sandbox="${sandbox}"`);
    const iframe = document.createElement("iframe");
    iframe.setAttribute("sandbox", sandbox);
    iframe.referrerPolicy = "no-referrer";
    iframe.loading = "lazy"; // in a closed tab nothing loads
    iframe.title = this.#title;
    Object.assign(iframe.style, { position: "absolute", inset: "0", border: "0", transformOrigin: "0 0" });
    const { promise: ready, resolve: settle } = Promise.withResolvers();
    const frame = { url, iframe, scripted, ready, settle, layout: null, scale: 1 };
    // Pages without scripts, and error pages, never say that they are ready.
    iframe.addEventListener("load", () => window.setTimeout(frame.settle, scripted ? 200 : 0));
    this.#hide(frame);
    this.#size(frame);
    iframe.src = url;
    this.#container.append(iframe);
    return frame;
  }

  /** @param {Frame} frame */
  #hide(frame) {
    // Not display: none, which would throw the layout away; not visibility: hidden, which stops its drawing.
    Object.assign(frame.iframe.style, { opacity: "0", pointerEvents: "none", zIndex: "0" });
    frame.iframe.tabIndex = -1;
    frame.iframe.ariaHidden = "true";
  }

  /** @param {Frame} frame */
  #swap(frame) {
    const before = this.#shown;
    const hadFocus = before !== null && document.activeElement === before.iframe;
    this.#shown = frame;
    if (before && before !== frame) this.#size(before);
    this.#size(frame);
    Object.assign(frame.iframe.style, { opacity: "1", pointerEvents: "auto", zIndex: "1" });
    frame.iframe.removeAttribute("tabindex");
    frame.iframe.ariaHidden = null;
    if (before !== null && before !== frame) this.#hide(before);
    if (hadFocus && before !== frame) frame.iframe.focus();
  }

  /** Send the marks; resolves when they are drawn, or soon. @param {Frame} frame @param {string | null} scroll */
  #mark(frame, scroll) {
    if (!frame.scripted) return undefined;
    this.#send(frame, { type: "marks", marks: this.#marks, scroll, turn: this.#turn });
    return new Promise((resolve) => {
      this.#marked = resolve;
      window.setTimeout(resolve, MARKED_WITHIN_MS);
    });
  }

  #first() {
    const mark =
      this.#marks.find(({ kind }) => kind === "gold") ?? this.#marks.find(({ kind }) => kind === "predicted");
    return mark?.id ?? null;
  }

  /** @param {Frame | null} frame @param {Record<string, unknown>} message */
  #send(frame, message) {
    // A sandboxed document's origin is opaque, so no target origin can be named; the messages hold no secrets.
    if (frame?.scripted) frame.iframe.contentWindow?.postMessage({ v: 1, ...message }, "*");
  }

  #receive = (/** @type {MessageEvent} */ event) => {
    const frame = this.#frames.find(({ iframe }) => iframe.contentWindow === event.source);
    const message = event.data;
    if (!frame?.scripted || event.origin !== "null" || message?.v !== 1) return;
    if (message.type === "ready") {
      if (Number.isFinite(message.layout) && message.layout >= 200 && message.layout <= 8000) {
        frame.layout = message.layout + scrollBar();
        this.#size(frame);
      }
      frame.settle();
      if (message.expired) this.#forget(frame);
    } else if (frame === this.#shown || message.type === "marked" || message.type === "outside") {
      this.#tell(message, frame === this.#wanted);
    }
  };

  /** @param {Record<string, unknown>} message of a hostile page: nothing is taken that was not looked at @param {boolean} isWanted whether it is the page that was asked for last */
  #tell(message, isWanted) {
    if (message.type === "key" && isKey(message.key)) this.onKey?.(message.key, { shift: message.shift === true });
    if (message.type === "pick" && isId(message.id)) this.onPick?.(message.id);
    if (message.type === "hover" && isIdOrNone(message.id)) this.onHover?.(message.id);
    if (message.type === "marked" && message.turn === this.#turn) {
      this.#marked();
      this.onMarked?.({ missing: ids(message.missing), hidden: ids(message.hidden) });
    }
    if (message.type === "outside" && isWanted)
      this.onOutside?.({ above: ids(message.above), below: ids(message.below) });
    if (message.type === "measured") this.#answer(message.turn, measured(message));
  }

  /** @param {unknown} turn @param {Measured | null} found */
  #answer(turn, found) {
    if (typeof turn !== "number") return;
    this.#measuring.get(turn)?.(found);
    this.#measuring.delete(turn);
  }

  /** An expired address will not become valid again, and a prefetched one is asked for when it is needed. @param {Frame} frame */
  #forget(frame) {
    frame.url = "";
    if (frame === this.#wanted) this.onExpired?.();
  }
}

/** How wide a scroll bar is in this browser: a page's lines have less room beside one. */
function scrollBar() {
  if (barWidth === null) {
    const box = document.body.appendChild(document.createElement("div"));
    Object.assign(box.style, { position: "absolute", visibility: "hidden", overflow: "scroll", width: "99px" });
    barWidth = box.offsetWidth - box.clientWidth;
    box.remove();
  }
  return barWidth;
}

/** @param {unknown} value @returns {value is string} */
function isId(value) {
  return typeof value === "string" && value.length <= 64;
}

/** @param {unknown} value @returns {value is string | null} */
function isIdOrNone(value) {
  return value === null || isId(value);
}

/** @param {unknown} value @returns {value is string} */
function isKey(value) {
  return typeof value === "string" && KEYS.test(value);
}

/** @param {unknown} values @returns {string[]} */
function ids(values) {
  return Array.isArray(values) ? values.filter(isId) : [];
}

/** What a page says of how it is laid out; null where it says anything but numbers. @param {Record<string, any>} message @returns {Measured | null} */
function measured({ x, y, layout, bar, width, height, box }) {
  const place = box && { x: box.x, y: box.y, width: box.width, height: box.height };
  const told = { x, y, layout, bar, width, height };
  const isWhole = [...Object.values(told), ...Object.values(place ?? {})].every(Number.isFinite);
  return isWhole && layout > 0 && width > 0 && height > 0 ? { ...told, box: place ?? null } : null;
}
