// Reads a page of the sample's sites as the recorder of the sample would: elements with their numbers, attributes, live
// values and boxes, text by text. Runs in the page, once for each observation.
() => {
  const PAGE = window.scrollY;
  const OWN = new Set(["data-n", "data-t", "data-on", "data-hover", "data-field"]);
  /** @param {HTMLElement & {value?: string, checked?: boolean}} element */
  const attributesOf = (element) => {
    /** @type {Record<string, string>} */
    const found = {};
    for (const { name, value } of element.attributes) {
      const isLive =
        ["checked", "selected"].includes(name) ||
        (name === "value" && "field" in element.dataset && element.tagName === "INPUT");
      if (!OWN.has(name) && !isLive) found[name.replaceAll("-", "_")] = value;
    }
    if ("field" in element.dataset && ["INPUT", "TEXTAREA"].includes(element.tagName) && element.value) {
      if (element.tagName === "INPUT") found.value = element.value;
      found.input_value = element.value;
    }
    if (element.checked) found.input_checked = "true";
    if (element instanceof HTMLOptionElement && element.selected) found.option_selected = "true";
    return found;
  };
  /** @param {HTMLElement} element @returns {SiteNode} */
  const read = (element) => {
    /** @type {(SiteNode | string)[]} */
    const children = [];
    const texts = (element.dataset.t ?? "").split(",").filter(Boolean);
    const isText = element.tagName === "TEXTAREA";
    const inside = /** @type {Iterable<Text | HTMLElement>} */ (isText ? [] : element.childNodes); // pictures have numbers too
    for (const child of inside) {
      if (child instanceof Text && /\S/.test(child.data)) children.push(child.data.replace(/\n$/, ""));
      else if (child instanceof Element && child.dataset.n) children.push(read(child));
    }
    const rect = element.getBoundingClientRect();
    const isShown = rect.width > 0 && rect.height > 0;
    const box = [rect.left, rect.top + PAGE, rect.width, rect.height].map(Math.round);
    return {
      n: element.dataset.n,
      t: texts,
      tag: element.tagName.toLowerCase(),
      a: attributesOf(element),
      on: element.dataset.on ?? "",
      box: isShown && !(element instanceof HTMLOptionElement) ? box : null,
      c: children,
    };
  };
  return JSON.stringify(read(document.documentElement)); // Playwright takes long over deep objects
};
