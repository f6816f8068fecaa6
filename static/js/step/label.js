// The page of a step that a person calls harmless or risky: as it was recorded, its element marked and in view.
import { the } from "../shared/elements.js";
import { press } from "../shared/keys.js";
import { SnapshotFrame } from "../snapshot/frame.js";

/** @type {import("../snapshot/frame.js").View & {url: string}} */
const view = JSON.parse(the(document, "#label-view").textContent ?? "");
const frame = new SnapshotFrame(the(document, "#snapshot"), {
  title: "The page before the action, its element marked",
});
frame.onKey = press;
frame.onExpired = () => location.reload();
frame.show(view.url, { ...view, scrollTo: view.marks?.[0]?.id });
