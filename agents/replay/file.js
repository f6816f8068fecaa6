// The only script of a replay's file, named by its hash in the file's policy: it unpacks a step's page, which the file
// holds compressed, when the step is opened, into a frame that runs no scripts; `n` and `p` lead to failures.
(() => {
  /** @type {HTMLDetailsElement[]} */
  const steps = [...document.querySelectorAll("details")].filter((one) => one.classList.contains("step"));

  /** @param {Element} step */
  async function unpack(step) {
    const frame = step.querySelector("iframe");
    const packed = step.querySelector(".packed");
    if (!frame || !packed || frame.src) return;
    const bytes = Uint8Array.from(atob(packed.textContent.trim()), (character) => character.charCodeAt(0));
    const page = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const blob = new Blob([await new Response(page).blob()], { type: "application/xhtml+xml" });
    layOut(frame);
    frame.src = URL.createObjectURL(blob) + (frame.dataset.first ?? "");
  }

  /** A page with a region is laid out as wide as the region was measured, beside a scroll bar, and shown smaller where
   * there is less room. @param {HTMLIFrameElement} frame */
  function layOut(frame) {
    if (!frame.dataset.width || !frame.parentElement) return;
    const bar = document.body.appendChild(document.createElement("div"));
    bar.style.cssText = "position:absolute;visibility:hidden;overflow:scroll;width:99px";
    const width = Number(frame.dataset.width) + bar.offsetWidth - bar.clientWidth;
    bar.remove();
    const scale = Math.min(1, frame.parentElement.clientWidth / width);
    const height = frame.clientHeight;
    frame.style.cssText = `width:${width}px;height:${height / scale}px;transform:scale(${scale});transform-origin:0 0;margin-bottom:${height - height / scale}px`;
  }

  /** @param {-1 | 1} direction */
  function toFailure(direction) {
    const here = steps.findLastIndex((one) => one.open);
    const wrong = (/** @type {HTMLDetailsElement} */ one) => one.classList.contains("wrong");
    const found = direction > 0 ? steps.slice(here + 1).find(wrong) : steps.slice(0, Math.max(here, 0)).findLast(wrong);
    if (!found) return;
    for (const one of steps) one.open = one === found;
    found.querySelector("summary")?.focus();
    found.scrollIntoView({ block: "start" });
  }

  document.addEventListener(
    "toggle",
    ({ target }) => {
      if (target instanceof HTMLDetailsElement && target.open) void unpack(target);
    },
    true,
  );
  document.addEventListener("keydown", ({ key, ctrlKey, metaKey, altKey, target }) => {
    if (ctrlKey || metaKey || altKey || target instanceof HTMLInputElement) return;
    if (key === "n") toFailure(1);
    if (key === "p") toFailure(-1);
  });
  for (const one of steps) if (one.open) void unpack(one);
})();
