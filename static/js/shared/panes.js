// Panes whose widths the reader sets, by mouse or keys, and which stay so in this browser. No module: it runs before the
// page is laid out, so that nothing moves while it loads. How narrow and how wide a pane may be stands in the style
// sheets (`--least-first`, `--least-last`, a third of the window), which keep to it whatever is remembered.
(() => {
  const NAME = `panes-${document.currentScript?.dataset.panes}`;
  const STEP = 16; // pixels for a press of an arrow; with Shift four times as many
  const PANES = ["first", "last"];
  const root = document.documentElement;
  const widths = kept();

  /** What is remembered; whatever else stands there is as if it were nothing. @returns {Record<string, number>} */
  function kept() {
    try {
      const found = Object.entries(JSON.parse(localStorage.getItem(NAME) ?? "{}") ?? {});
      return Object.fromEntries(found.filter(([pane, width]) => PANES.includes(pane) && Number.isFinite(width)));
    } catch {
      return {};
    }
  }

  function apply() {
    for (const pane of PANES) {
      if (pane in widths) root.style.setProperty(`--pane-${pane}`, `${Math.max(0, widths[pane])}px`);
      else root.style.removeProperty(`--pane-${pane}`);
    }
  }

  function remember() {
    try {
      localStorage.setItem(NAME, JSON.stringify(widths));
    } catch {
      // a browser that keeps nothing: the panes have their widths until the page is left
    }
  }

  /** @param {HTMLElement} separator between two panes; it sets the width of the one that it names */
  function listen(separator) {
    const pane = document.getElementById(separator.getAttribute("aria-controls") ?? "");
    const work = separator.parentElement;
    const name = separator.dataset.pane ?? "";
    if (!pane || !work) return;
    const outwards = name === "last" ? -1 : 1; // to the right, the last pane gets narrower
    const width = () => Math.round(pane.getBoundingClientRect().width);
    const least = () => parseFloat(getComputedStyle(work).getPropertyValue(`--least-${name}`)) || 0;
    const most = () => Math.floor(work.clientWidth / 3);

    function tell() {
      separator.setAttribute("aria-valuemin", String(least()));
      separator.setAttribute("aria-valuemax", String(most()));
      separator.setAttribute("aria-valuenow", String(width()));
    }

    /** @param {number | null} wanted null: as the page is without any wish */
    function set(wanted) {
      if (wanted === null) delete widths[name];
      else widths[name] = Math.round(Math.min(Math.max(wanted, least()), most()));
      apply();
      tell();
    }

    separator.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const far = (event.shiftKey ? 4 : 1) * STEP * outwards;
      const wanted = {
        ArrowRight: width() + far,
        ArrowLeft: width() - far,
        Home: least(),
        End: most(),
        Enter: null,
      }[event.key];
      if (wanted === undefined) return;
      event.preventDefault();
      event.stopPropagation(); // the pages have other uses for these keys
      set(wanted);
      remember();
    });
    separator.addEventListener("dblclick", () => {
      set(null);
      remember();
    });
    separator.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault(); // nothing is selected or dragged along
      separator.focus({ preventScroll: true });
      separator.setPointerCapture(event.pointerId);
      work.classList.add("resizing"); // the frames of recorded pages would take the mouse
      const [from, before] = [event.clientX, width()];
      const move = (/** @type {PointerEvent} */ moved) => set(before + (moved.clientX - from) * outwards);
      separator.addEventListener("pointermove", move);
      separator.addEventListener(
        "lostpointercapture",
        () => {
          separator.removeEventListener("pointermove", move);
          work.classList.remove("resizing");
          remember();
        },
        { once: true },
      );
    });
    new ResizeObserver(tell).observe(work);
    tell();
  }

  apply();
  document.addEventListener("DOMContentLoaded", () => {
    for (const separator of document.querySelectorAll(".work > [role=separator]")) listen(separator);
  });
})();
