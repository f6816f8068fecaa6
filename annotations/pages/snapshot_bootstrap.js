// The only script that runs inside a rendered page. `settings` (origin of the app, looks of the marks, chip style) is
// put in front by the server. The page around us is hostile: nothing here trusts its names, its styles or its events,
// and methods are taken from prototypes because ids in a form hide them. Messages: {v: 1, type, ...}.
(() => {
  const ATTRIBUTE = "data-node-id";
  const KEYS = /^(?:[a-zA-Z0-9?/]|Arrow(?:Left|Right|Up|Down)|Escape)$/;
  const MOST_LARGER = 2.5;
  const CONTROLS = "a, button, input, select, textarea, summary, label, option";
  /** @param {Element} node @param {string} selector */
  const closest = (node, selector) => Element.prototype.closest.call(node, selector);
  /** @param {Element} node */
  const rect = (node) => Element.prototype.getBoundingClientRect.call(node);
  const { get: parentOf } = /** @type {{get(): unknown}} */ (
    Object.getOwnPropertyDescriptor(Node.prototype, "parentNode")
  );
  /** @param {Element} node @param {string} name */
  const own = (node, name) => Element.prototype.getAttribute.call(node, name);
  /** @param {Element} node */
  const nodeId = (node) => own(node, ATTRIBUTE);
  /** @param {{type: string} & Record<string, unknown>} message */
  const send = (message) => window.parent !== window && window.parent.postMessage({ v: 1, ...message }, settings.app);
  /** By their numbers. @type {Map<string, Element>} */
  const nodes = new Map();
  const root = document.documentElement; // taken before the page can have names that hide it
  const layer = document.createElement("div");
  const shadow = Element.prototype.attachShadow.call(layer, { mode: "closed" }); // out of reach of the page's styles
  /** @typedef {{id: string, kind: string, label: string}} PageMark */
  /** @type {PageMark[]} */
  let marks = [];
  /** What the reader points at in here. @type {string | null} */
  let hovered = null;
  /** What the reader points at in the app (a row of the candidates, say). @type {string | null} */
  let pointedAt = null;
  /** A rectangle that somebody's note is about, in coordinates of the page. @type {{x: number, y: number, width: number, height: number, label: string} | null} */
  let region = null;
  let waiting = false;
  /** What was brought into view last, as long as the reader has not gone elsewhere. @type {string | null} */
  let brought = null;
  /** How much larger marks are drawn, where the page is shown smaller. */
  let larger = 1;
  /** Gold and predicted elements outside of the window, as they were told last. */
  let outside = "";

  /** The element, or the nearest one around it that is drawn; null for one that the page does not have. @param {string | null} id */
  function visible(id) {
    /** @type {unknown} */
    let node = id === null ? null : nodes.get(id);
    while (node instanceof Element && rect(node).width === 0 && rect(node).height === 0) node = parentOf.call(node);
    return node instanceof Element ? node : null;
  }

  /** @param {string} text @param {string} style */
  function label(text, style) {
    const chip = document.createElement("span");
    chip.style.cssText = `${settings.chip};${style}`;
    chip.style.fontSize = `${10 * larger}px`;
    chip.style.lineHeight = `${14 * larger}px`;
    chip.textContent = text;
    return chip;
  }

  /** A box around a node, `far` px away from it, in the layer's coordinates. @param {Element} node @param {number} far @param {string} style */
  function box(node, far, style) {
    const place = rect(node);
    const origin = rect(layer);
    const frame = document.createElement("div");
    frame.style.cssText = `position:absolute;box-sizing:border-box;border-radius:3px;${style}`;
    frame.style.left = `${place.left - origin.left - far}px`;
    frame.style.top = `${place.top - origin.top - far}px`;
    frame.style.width = `${place.width + 2 * far}px`;
    frame.style.height = `${place.height + 2 * far}px`;
    shadow.append(frame);
    return frame;
  }

  /** How far a chip must go to the right, so that it covers none of those that are there. @param {DOMRect} own @param {DOMRect[]} others */
  function covered(own, others) {
    let far = 0;
    for (const other of others) {
      const isBeside = own.left + far >= other.right || own.right + far <= other.left;
      if (!isBeside && own.top < other.bottom && own.bottom > other.top) far = other.right + 2 - own.left;
    }
    return far;
  }

  /** The marks of one element: a box each, their chips side by side outside of the outermost. @param {Element} node @param {PageMark[]} found @param {DOMRect[]} kept what no chip may cover @param {DOMRect[]} marked what it should not, where there is a place beside it */
  function drawMarks(node, found, kept, marked) {
    const outer = Math.max(...found.map(({ kind }) => settings.looks[kind].distance + settings.looks[kind].width));
    const row = document.createElement("div");
    row.style.cssText = "position:absolute;display:flex;gap:2px";
    for (const mark of found) {
      const { colour, line, width, distance } = settings.looks[mark.kind];
      const thick = width * larger;
      box(node, distance + thick, `border:${thick}px ${line} ${colour}`);
      row.append(label(mark.label, `background:${colour}`));
    }
    shadow.append(row);
    const origin = rect(layer);
    const [x, y] = chipPlace(rect(node), rect(row), outer * larger, kept, marked);
    row.style.left = `${x - origin.left}px`;
    row.style.top = `${y - origin.top}px`;
    // Candidates are many, so that their chips give way to the others, and not to each other.
    if (found.some(({ kind }) => kind !== "candidate")) kept.push(rect(row));
  }

  /** Where chips stand that are as large as `own`: above an element, below it or beside it, where the page has room and
   * nothing is covered; else above it, or in its corner, where the page begins. @param {DOMRect} place @param {DOMRect} own @param {number} far @param {DOMRect[]} kept @param {DOMRect[]} better @returns {[number, number]} */
  function chipPlace(place, own, far, kept, better) {
    const left = Math.max(place.left - far, -window.scrollX);
    const top = Math.max(place.top - far, -window.scrollY);
    const above = place.top - far - own.height;
    /** @type {[number, number][]} */
    const places = [
      [left, above],
      [left, place.bottom + far],
      [place.right + far + 2, top],
      [place.left - far - own.width - 2, top],
    ];
    const onPage = places.filter(([x, y]) => isOnPage(x, y, own));
    for (const others of [[...kept, ...better], kept]) {
      const free = onPage.find(([x, y]) => !others.some((other) => meets(x, y, own, other)));
      if (free) return free;
    }
    if (!isOnPage(left, above, own)) return [left, top];
    return [left + covered(new DOMRect(left, above, own.width, own.height), kept), above];
  }

  /** @param {number} x @param {number} y @param {DOMRect} own */
  function isOnPage(x, y, { width, height }) {
    const [left, top] = [x + window.scrollX, y + window.scrollY];
    return left >= 0 && top >= 0 && left + width <= root.scrollWidth && top + height <= root.scrollHeight;
  }

  /** @param {number} x @param {number} y @param {DOMRect} own @param {DOMRect} other */
  function meets(x, y, { width, height }, other) {
    return x < other.right && x + width > other.left && y < other.bottom && y + height > other.top;
  }

  /** Tell which of the gold and the predicted elements are above or below what is seen of the page. */
  function tellOutside() {
    const sides = { above: /** @type {string[]} */ ([]), below: /** @type {string[]} */ ([]) };
    for (const { id, kind } of marks) {
      const node = kind === "gold" || kind === "predicted" ? visible(id) : null;
      if (!node) continue;
      const { top, bottom } = rect(node);
      if (bottom <= 0) sides.above.push(id);
      else if (top >= window.innerHeight) sides.below.push(id);
    }
    const told = JSON.stringify(sides);
    if (told !== outside) send({ type: "outside", ...sides });
    outside = told;
  }

  function draw() {
    waiting = false;
    tellOutside();
    shadow.replaceChildren();
    const found = new Map();
    for (const mark of marks) {
      const node = visible(mark.id);
      if (node) found.set(node, [...(found.get(node) ?? []), mark]);
    }
    const isMain = (/** @type {PageMark} */ { kind }) => kind !== "candidate";
    /** What no chip may cover: the elements that are meant, then the chips that stand. @type {DOMRect[]} */
    const kept = [];
    const places = new Map([...found.keys()].map((node) => [node, rect(node)]));
    found.forEach((marked, node) => marked.some(isMain) && kept.push(rect(node)));
    found.forEach((marked, node) => drawMarks(node, marked, kept, [...places.values()]));
    const node = visible(pointedAt);
    if (node) box(node, 1, "background:#3b5bdb33;border:1px solid #3b5bdb");
    if (region) drawRegion(region);
  }

  /** @param {NonNullable<typeof region>} noted */
  function drawRegion({ x, y, width, height, label: text }) {
    const origin = rect(layer);
    const frame = document.createElement("div");
    const { colour, line } = settings.region;
    frame.style.cssText = `position:absolute;box-sizing:border-box;border:3px ${line} ${colour};background:${colour}22`;
    frame.style.left = `${x - window.scrollX - origin.left}px`;
    frame.style.top = `${y - window.scrollY - origin.top}px`;
    frame.style.width = `${width}px`;
    frame.style.height = `${height}px`;
    const below = y + height + 20 < root.scrollHeight || y < 20 ? "top:100%" : "bottom:100%"; // marks' are above first
    frame.append(label(text, `position:absolute;right:-3px;${below};background:${colour}`));
    shadow.append(frame);
  }

  /** @param {{id: string | null, turn: unknown}} asked how the page is laid out and where it is scrolled to, and where an element is */
  function measure({ id, turn }) {
    const node = visible(id);
    const place = node && rect(node);
    const box = place && {
      x: place.left + window.scrollX,
      y: place.top + window.scrollY,
      width: place.width,
      height: place.height,
    };
    send({
      type: "measured",
      turn,
      x: window.scrollX,
      y: window.scrollY,
      layout: root.clientWidth,
      bar: window.innerWidth - root.clientWidth,
      width: root.scrollWidth,
      height: root.scrollHeight,
      box,
    });
  }

  /** @param {NonNullable<typeof region>} noted */
  function showRegion({ x, y, width, height }) {
    const [left, top] = [x - window.scrollX, y - window.scrollY];
    const isSeen = left >= 0 && top >= 0 && left + width <= window.innerWidth && top + height <= window.innerHeight;
    if (isSeen) return;
    const middle = y + height / 2 - window.innerHeight / 2;
    window.scrollTo({ left: Math.max(0, x - 24), top: Math.max(0, middle), behavior: "instant" });
  }

  function drawSoon() {
    if (!waiting && (marks.length || pointedAt || region)) waiting = Boolean(requestAnimationFrame(draw));
  }

  /** @param {string} id */
  function scrollTo(id) {
    brought = id;
    const node = visible(id);
    if (!node) return;
    const place = rect(node);
    if (place.top >= 24 && place.bottom <= window.innerHeight && place.left >= 0 && place.right <= window.innerWidth)
      return;
    Element.prototype.scrollIntoView.call(node, { block: "center", inline: "nearest", behavior: "instant" });
    draw();
  }

  /**
   * @typedef {{
   *   v: number,
   *   type: string,
   *   marks: PageMark[],
   *   scroll: string,
   *   turn: unknown,
   *   id: string,
   *   region: typeof region,
   *   by: [number, number],
   *   scale: number,
   * }} PageMessage
   */

  /** @param {MessageEvent} event */
  function receive(event) {
    /** @type {PageMessage} */
    const message = event.data;
    if (event.source !== window.parent || event.origin !== settings.app || message?.v !== 1) return;
    if (message.type === "marks") {
      marks = message.marks.filter((mark) => settings.looks[mark.kind]);
      outside = "";
      brought = null;
      draw();
      if (message.scroll) scrollTo(message.scroll);
      const missing = marks.filter((mark) => !nodes.has(mark.id)).map((mark) => mark.id);
      const hidden = marks
        .filter((mark) => nodes.has(mark.id) && visible(mark.id) !== nodes.get(mark.id))
        .map((mark) => mark.id);
      send({ type: "marked", turn: message.turn, missing, hidden });
    } else if (message.type === "scroll") {
      scrollTo(message.id);
    } else if (message.type === "scale") {
      larger = Math.min(MOST_LARGER, Math.max(1, 1 / message.scale));
      draw();
    } else if (message.type === "hover") {
      pointedAt = message.id;
      draw();
    } else if (message.type === "region") {
      region = message.region;
      if (region) showRegion(region);
      draw();
    } else if (message.type === "measure") {
      measure(message);
    } else if (message.type === "scrollby") {
      window.scrollBy({ left: message.by[0], top: message.by[1], behavior: "instant" });
    }
  }

  /** @param {Event} event */
  function pointed(event) {
    const node = event.target instanceof Element ? closest(event.target, `[${ATTRIBUTE}]`) : null;
    return node && nodeId(node);
  }

  /** @param {Event} event */
  function stop(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  window.addEventListener("message", receive);
  window.addEventListener(
    "click",
    (event) => {
      stop(event);
      const id = pointed(event);
      if (id) send({ type: "pick", id });
    },
    true,
  );
  window.addEventListener(
    "mousedown",
    (event) => {
      if (event.target instanceof Element && closest(event.target, CONTROLS)) event.preventDefault(); // no focus, no menus
    },
    true,
  );
  window.addEventListener(
    "mouseover",
    (event) => {
      const id = pointed(event);
      if (id !== hovered) send({ type: "hover", id: (hovered = id) });
    },
    true,
  );
  document.addEventListener("mouseleave", () => send({ type: "hover", id: (hovered = null) }));
  for (const name of ["auxclick", "dblclick", "submit", "reset", "beforeinput", "dragstart", "drop"]) {
    window.addEventListener(name, stop, true);
  }
  window.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !KEYS.test(event.key)) return;
      if (!/^Arrow(?:Up|Down)$/.test(event.key)) stop(event); // those two scroll the page as well
      send({ type: "key", key: event.key, shift: event.shiftKey });
    },
    true,
  );
  window.addEventListener("scroll", drawSoon, true);
  window.addEventListener("resize", () => {
    if (brought !== null) scrollTo(brought); // lines break elsewhere now
    drawSoon();
  });
  for (const name of ["wheel", "mousedown", "keydown", "touchstart"])
    window.addEventListener(name, () => (brought = null), { capture: true, passive: true });
  document.addEventListener("DOMContentLoaded", () => {
    for (const node of document.querySelectorAll(`[${ATTRIBUTE}]`)) {
      const id = nodeId(node);
      if (id !== null && !nodes.has(id)) nodes.set(id, node);
    }
    layer.style.cssText =
      "all:initial!important;position:absolute!important;top:0!important;left:0!important;z-index:2147483647!important;pointer-events:none!important";
    root.append(layer);
    rect(layer); // lay the page out now, so that showing it later is only painting
    send({ type: "ready", expired: settings.expired, layout: Number(own(root, "data-layout-width")) });
  });
})();
