// The comparison of runs at one step: the pages that they saw, with what each of them chose.
import { press } from "../shared/keys.js";
import { Pointers } from "../snapshot/pointers.js";
import { SnapshotFrame } from "../snapshot/frame.js";

/** @typedef {{letter: string, data: {url: string, sandbox: string, scripted: boolean, marks: any[]} | null}} ComparedFrame */

/** @type {ComparedFrame[]} */
const frames = JSON.parse(document.getElementById("compare-frames")?.textContent ?? "[]");

for (const [place, { letter, data }] of frames.entries()) {
  const container = /** @type {HTMLElement | null} */ (document.querySelector(`[data-frame="${place}"]`));
  if (!container || !data) continue;
  const frame = new SnapshotFrame(container, { title: letter ? `Page that ${letter} saw` : "Page of the step" });
  frame.onKey = press;
  frame.onExpired = () => location.reload();
  new Pointers(container, frame, () => data.marks);
  frame.show(data.url, data);
}

document.querySelector(".compare-work [aria-current=step]")?.scrollIntoView({ block: "nearest" });
