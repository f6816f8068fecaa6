// Reads a live page as a tree of plain objects, in the shape that MiniWoB++ recorded its demonstrations in
// (annotations/datasets/miniwob_dom.py), and finds the element of a number again. Run once in every document.
(() => {
  if (window.webnavPage) return;
  const OVERLAYS = new Set(["reward-display", "sync-task-cover", "click-canvas", "query"]); // MiniWoB's own
  const LAID_OVER = [...OVERLAYS].map((id) => `#${id}`).join(", ");
  const NOT_WRITTEN = new Set(["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"]);
  const LEFT_OUT = new Set(["SCRIPT", "STYLE", "LINK", "META", "NOSCRIPT", "TEMPLATE"]);
  // What recorded pages of the web carry, too: what an element is called, what it is, what it belongs to.
  const CARRIED =
    "aria-label aria-labelledby aria-modal role title alt name placeholder for form autocomplete method".split(" ");
  // Attributes by which a control sends something to the server by itself, and by which it opens a part of the page.
  const SENDING =
    "[data-method]:not([data-method=get]), [data-turbo-method], [formaction], [hx-post], [hx-put], [hx-delete]";
  const OPENING =
    "[aria-haspopup]:not([aria-haspopup=false]), [data-bs-toggle], [data-toggle], [popovertarget], [commandfor], [aria-expanded]";
  const DIALOGS = "dialog, [role=dialog], [role=alertdialog], [aria-modal=true]";
  const CLICKED = new Set("click mousedown mouseup pointerdown pointerup touchstart touchend".split(" "));
  const MOST_BOXES = 2000;
  const READ_AS = 400; // characters: what is longer is a text, and no name
  /** @type {WeakSet<EventTarget>} */
  const listening = new WeakSet();
  const listen = EventTarget.prototype.addEventListener;
  /** @this {EventTarget} @param {Parameters<typeof listen>} given */
  EventTarget.prototype.addEventListener = function addEventListener(...given) {
    if (CLICKED.has(given[0])) listening.add(this ?? window);
    return listen.apply(this ?? window, given);
  };
  let numbers = new WeakMap();
  const elements = new Map(); // number -> WeakRef, so that what left the page can be collected
  let next = 1;

  /** @param {Element} element */
  const numberOf = (element) => {
    if (!numbers.has(element)) {
      numbers.set(element, next);
      elements.set(next, new WeakRef(element));
      next += 1;
    }
    return numbers.get(element);
  };

  /** The number that an element has, if it was read. @param {Element} element */
  const known = (element) => numbers.get(element) ?? null;

  /** @param {DOMRect} rect */
  const box = (rect) => ({ left: rect.left, top: rect.top, width: rect.width, height: rect.height });

  /** @param {Element} element @returns {string | boolean | undefined} */
  const valueOf = (element) => {
    if (element instanceof HTMLInputElement) {
      return element.type === "checkbox" || element.type === "radio" ? element.checked : element.value;
    }
    if (element instanceof HTMLTextAreaElement) return element.value;
    // Human demonstrations have no value of a SELECT: it is told once it is another than the page began with.
    if (element instanceof HTMLSelectElement) {
      const chosen = [...element.options].filter((option) => option.selected);
      const first = [...element.options].filter((option) => option.defaultSelected);
      const begun = first.length ? first : element.multiple ? [] : [...element.options].slice(0, 1);
      const same = chosen.length === begun.length && chosen.every((option, at) => option === begun[at]);
      return same ? undefined : chosen.map((option) => option.text).join("; ");
    }
    return undefined;
  };

  /** Whether a click on the element does something of the page's own, as far as that can be seen. @param {Element} element */
  const reacts = (element) =>
    listening.has(element) || [...CLICKED].some((kind) => typeof Reflect.get(element, `on${kind}`) === "function");

  /** Whether an attribute names a dialog of the page that the element is not in. @param {Element} element */
  const opensDialog = (element) =>
    [...element.attributes].some(({ name, value }) => {
      if (!/^(data-|aria-controls$)/.test(name) || !/^#?[\w-]+$/.test(value)) return false;
      const named = document.getElementById(value.replace("#", ""));
      return named !== null && named.matches(DIALOGS) && !named.contains(element);
    });

  /** @param {Element | null} element */
  const isEditable = (element) => element instanceof HTMLElement && element.isContentEditable;

  /** @param {string} text */
  const plain = (text) => text.replace(/\s+/g, " ").trim();

  /** What tells what the element does, for whoever judges that. @param {Element} element */
  const told = (element) => {
    /** @type {Record<string, string>} */
    const found = {};
    for (const name of CARRIED) {
      const value = element.getAttribute(name);
      if (value) found[name.replaceAll("-", "_")] = value;
    }
    if (reacts(element)) found.has_handler = "true";
    // Recorders of pages keep the type of a button, which models are shown: here it is told of those that only act.
    if (element instanceof HTMLButtonElement && element.type !== "submit") found.submits = "false";
    if (element.matches(SENDING)) found.sends = "true";
    if (element.matches(OPENING) || opensDialog(element)) found.opens = "true";
    if (element.hasAttribute("aria-pressed")) found.toggles = "true";
    if (isEditable(element) && !isEditable(element.parentElement)) found.editable = "true";
    if (element instanceof HTMLAnchorElement) {
      const here = /^\s*(#.*)?$/.test(element.getAttribute("href") ?? "");
      // Told by the address as the browser reads it, which drops breaks and spaces within its scheme.
      if (here || element.protocol.startsWith("javascript")) found.leads = "false"; // to no other page
    }
    if (element instanceof HTMLSelectElement && /submit/.test(`${element.onchange ?? ""}`)) found.onchange = "submit";
    // Pieces of text lose what stands between them: "P", "ay now" is read as "Pay now". What holds the clock of an
    // episode is no control, and would be another element each second.
    if (element instanceof HTMLElement && element.childElementCount > 0) {
      const text = element.textContent ?? "";
      if (text.length <= READ_AS && !element.querySelector(LAID_OVER)) {
        const read = plain(element.innerText);
        const pieces = [...textsBelow(element)].join(" ");
        if (read && read.toLowerCase() !== pieces.toLowerCase()) found.read_as = read;
      }
    }
    return found;
  };

  /** What colour an element has: what is drawn is filled. @param {Element} element @param {CSSStyleDeclaration} style */
  const colourOf = (element, style) => {
    if (!(element instanceof SVGGeometryElement || element instanceof SVGTextElement)) return style.backgroundColor;
    return style.fill.startsWith("rgb") ? style.fill : "rgba(0, 0, 0, 0)";
  };

  /** @param {Element} element @returns {Iterable<string>} */
  function* textsBelow(element) {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const said = plain(text.nodeValue ?? "");
      if (said) yield said;
    }
  }

  /** @param {Element} element @param {DOMRect | null} around of the list that an option is in @returns {LiveNode | null} */
  const read = (element, around) => {
    if (OVERLAYS.has(element.id) || LEFT_OUT.has(element.tagName.toUpperCase())) return null;
    let rect = element.getBoundingClientRect();
    const isOption = element instanceof HTMLOptionElement || element instanceof HTMLOptGroupElement;
    if (isOption && around) rect = around; // a closed list shows none of them
    if (rect.width === 0 || rect.height === 0) return null;
    const style = window.getComputedStyle(element);
    if (style.visibility === "hidden") return null;
    const input = element instanceof HTMLInputElement;
    /** @type {LiveNode} */
    const node = {
      tag: element.tagName + (input ? `_${element.type}` : ""),
      ref: numberOf(element),
      ...box(rect),
      children: [],
      id: element.id,
      classes: element.className,
      bgColor: colourOf(element, style),
    };
    const more = told(element);
    if (Object.keys(more).length) node.told = more;
    const value = valueOf(element);
    if (value !== undefined) node.value = value;
    const below = /** @type {(Element | Text)[]} */ ([...element.childNodes]).filter(
      (child) => child instanceof Element || (child instanceof Text && /\S/.test(child.data)),
    );
    if (below.every((child) => child instanceof Text)) {
      node.text = below.map((child) => child.data.trim()).join(" ");
      return node;
    }
    for (const child of below) {
      if (child instanceof Text) node.children.push({ tag: "t", text: child.data.trim(), children: [] });
      else {
        const found = read(child, element instanceof HTMLSelectElement ? rect : isOption ? around : null);
        if (found) node.children.push(found);
      }
    }
    return node;
  };

  /** A point at which a click reaches the element: its middle, else the nearest to it that nothing else covers. @param {Element} element */
  const freePoint = (element) => {
    element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    const [rect] = [...element.getClientRects()].sort(
      (one, other) => other.width * other.height - one.width * one.height,
    );
    if (!rect || !rect.width || !rect.height) return null;
    const parts = [0.5, 0.35, 0.65, 0.2, 0.8, 0.08, 0.92];
    const points = parts.flatMap((x) => parts.map((y) => [x, y]));
    points.sort((one, other) => Math.hypot(one[0] - 0.5, one[1] - 0.5) - Math.hypot(other[0] - 0.5, other[1] - 0.5));
    let inside = null;
    for (const [x, y] of points) {
      const at = { x: rect.left + x * rect.width, y: rect.top + y * rect.height };
      const hit = document.elementFromPoint(at.x, at.y);
      if (hit === element) return at;
      if (!inside && hit && element.contains(hit)) inside = at;
    }
    return inside;
  };

  window.webnavPage = {
    read: () => read(document.body, null),
    element: (number) => {
      const element = elements.get(number)?.deref();
      return element && element.isConnected ? element : null;
    },
    freePoint,
    number: known,
    /** What a person does with the page is told by these: what is at a point, from the inside out. */
    at: (x, y) => {
      const found = [];
      for (let element = document.elementFromPoint(x, y); element; element = element.parentElement) {
        const number = window.webnavPage?.number(element) ?? null; // websites may number their elements themselves
        if (number !== null) found.push(String(number));
      }
      return found;
    },
    /** The elements that have a number, if they are in the page still. */
    *numbered() {
      for (const [number, kept] of elements) {
        const element = kept.deref();
        if (element?.isConnected) yield [number, element];
      }
    },
    /** How large the window is, where it is scrolled to, and where elements with a number are in it. */
    place: () => {
      const [width, height] = [window.innerWidth, window.innerHeight];
      /** @type {Record<string, number[]>} */
      const boxes = {};
      let left = MOST_BOXES;
      for (const [number, element] of window.webnavPage?.numbered() ?? []) {
        const rect = element.getBoundingClientRect();
        const isSeen = rect.right > 0 && rect.bottom > 0 && rect.left < width && rect.top < height;
        if (!isSeen || rect.width === 0 || rect.height === 0) continue;
        boxes[number] = [rect.left, rect.top, rect.width, rect.height].map(Math.round);
        left -= 1;
        if (left === 0) break;
      }
      return { x: window.scrollX, y: window.scrollY, width, height, boxes };
    },
    /** The fields that can be reached, with what stands in them and where they are. */
    fields: () => {
      const found = [];
      for (const element of document.querySelectorAll("input, textarea, select, [contenteditable=true]")) {
        const number = window.webnavPage?.number(element) ?? null;
        const kind = element instanceof HTMLInputElement ? element.type : element.tagName.toLowerCase();
        const rect = element.getBoundingClientRect();
        const hit = document.elementFromPoint(rect.left + rect.width / 2, rect.top + rect.height / 2);
        const isCovered = !hit || !(element.contains(hit) || hit.contains(element));
        if (number === null || isCovered || rect.width === 0 || NOT_WRITTEN.has(kind)) continue;
        const list = element instanceof HTMLSelectElement ? element : null;
        const options = list && [...list.options].map((option) => option.text);
        const isWritten = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
        const written = isWritten ? element.value : (element.textContent ?? "");
        const value = list ? (list.selectedOptions[0]?.text ?? "") : written;
        found.push({ node_id: String(number), kind, value, options, ...box(rect) });
      }
      return found;
    },
    /** A new episode numbers its elements from 1, so that the same page is the same text each time. */
    restart: () => {
      numbers = new WeakMap();
      elements.clear();
      next = 1;
    },
  };
})();
