// Shows rendered pages in sandboxed frames: one visible, others loading behind it, so that stepping never flickers.
// The frames are hostile. They are on another origin (or have no scripts at all); the only contact is messages
// {v: 1, type, ...}, taken only from our own frames and checked field by field.

/** @typedef {{id: string, kind: "gold" | "predicted" | "candidate", label: string}} Mark */
/** @typedef {{sandbox: string, scripted: boolean, marks?: Mark[], scrollTo?: string | null}} View */
/** @typedef {{url: string, iframe: HTMLIFrameElement, scripted: boolean, ready: Promise<unknown>, settle: (value?: unknown) => void}} Frame */

const KEYS = /^(?:[a-zA-Z0-9?/]|Arrow(?:Left|Right|Up|Down)|Escape)$/; // those that commands of the app may have
const MAX_FRAMES = 4; // the page shown, the ones before and after it, and one on its way
const MARKED_WITHIN_MS = 250; // how long the old page stays while the new one draws its marks
const SANDBOXES = new Set(["", "allow-scripts"]); // anything more would let a page act as its origin

export class SnapshotFrame {
  /** Called with (key, {shift}) for keys pressed inside a page. @type {((key: string, options: {shift: boolean}) => void) | null} */
  onKey = null;
  /** Called with the node id of an element that was clicked. @type {((id: string) => void) | null} */
  onPick = null;
  /** Called with the node id under the pointer, or null. @type {((id: string | null) => void) | null} */
  onHover = null;
  /** Called with ids of marks that the page does not have, or that are drawn on something around them. @type {((found: {missing: string[], hidden: string[]}) => void) | null} */
  onMarked = null;
  /** Called when the address shown has run out: ask the server for a new one and show that. @type {(() => void) | null} */
  onExpired = null;

  #container;
  #title;
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

  /**
   * @param {HTMLElement} container gets the frames; it needs a height
   * @param {{title?: string}} [options] accessible name of the frames
   */
  constructor(container, { title = "Recorded page" } = {}) {
    this.#container = container;
    this.#title = title;
    if (getComputedStyle(container).position === "static") container.style.position = "relative";
    window.addEventListener("message", this.#receive);
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

  /** Load a page behind the one shown, so that showing it takes no time. Resolves when it is there. @param {string} url @param {View} view */
  prefetch(url, { sandbox, scripted }) {
    return this.#frame(url, sandbox, scripted).ready;
  }

  /** Remove the frames and stop listening. */
  destroy() {
    window.removeEventListener("message", this.#receive);
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
    Object.assign(iframe.style, { position: "absolute", inset: "0", width: "100%", height: "100%", border: "0" });
    const { promise: ready, resolve: settle } = Promise.withResolvers();
    const frame = { url, iframe, scripted, ready, settle };
    // Pages without scripts, and error pages, never say that they are ready.
    iframe.addEventListener("load", () => window.setTimeout(frame.settle, scripted ? 200 : 0));
    this.#hide(frame);
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
      frame.settle();
      if (message.expired) this.#forget(frame);
    } else if (frame === this.#shown || message.type === "marked") {
      this.#tell(message);
    }
  };

  /** @param {Record<string, unknown>} message of a hostile page: nothing is taken that was not looked at */
  #tell(message) {
    if (message.type === "key" && isKey(message.key)) this.onKey?.(message.key, { shift: message.shift === true });
    if (message.type === "pick" && isId(message.id)) this.onPick?.(message.id);
    if (message.type === "hover" && isIdOrNone(message.id)) this.onHover?.(message.id);
    if (message.type === "marked" && message.turn === this.#turn) {
      this.#marked();
      this.onMarked?.({ missing: ids(message.missing), hidden: ids(message.hidden) });
    }
  }

  /** An expired address will not become valid again, and a prefetched one is asked for when it is needed. @param {Frame} frame */
  #forget(frame) {
    frame.url = "";
    if (frame === this.#wanted) this.onExpired?.();
  }
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
