// A model that was asked for a proposal and takes its time: what it waits for, or is at, and a button that stops it.
import { button } from "../shared/elements.js";

const SOON_MS = 300; // most failures are known by then
const POLL_MS = 1500;

/** @param {string} id */
function shownAs(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** What the model proposes, once it is there; null where somebody stopped it. Rejects with why there is none.
 * @param {number} job @param {import("./saving.js").Saver} saver
 * @returns {Promise<import("./proposal.js").Proposed | null>} */
export async function proposalOf(job, saver) {
  /** @type {Promise<any> | null} */
  let stopped = null;
  const stopping = new AbortController();
  button("stop-asking").addEventListener(
    "click",
    () => {
      stopped = saver.post("propose/", { job, stop: true }).catch(() => {}); // unreached, it is made for another time
      stopping.abort();
    },
    { once: true, signal: stopping.signal },
  );
  try {
    for (let asked = 0; ; asked += 1) {
      await passed(asked < 2 ? SOON_MS : POLL_MS, stopping.signal);
      const answer = stopped ? null : await saver.post("propose/", { job });
      if (stopped) {
        await stopped;
        return null;
      }
      if (answer.error) throw new Error(`No proposal: ${answer.error}`);
      if (answer.proposal) return answer.proposal;
      shownAs("asked-words").textContent = answer.waits;
      shownAs("asked").hidden = false;
    }
  } finally {
    stopping.abort();
    shownAs("asked").hidden = true;
  }
}

/** So many milliseconds, or fewer where it is stopped. @param {number} milliseconds @param {AbortSignal} signal */
function passed(milliseconds, signal) {
  return new Promise((resolve) => {
    window.setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", resolve, { once: true });
  });
}
