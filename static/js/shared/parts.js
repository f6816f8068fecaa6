// Reading parts of a page again: the server renders, the browser only exchanges elements of the same id.
import { readPage, Refused } from "./server.js";

/** Of each element the last request for it: an older answer that comes later is not shown. @type {Map<string, number>} */
const lastAsked = new Map();
let requests = 0;

/**
 * Fetch a page of this site and exchange the named elements of this document for its own; nothing is exchanged when the
 * server did not answer with a page.
 * @param {string} url
 * @param {string[]} ids elements that are in both; the ones missing on either side stay as they are
 */
export async function readAgain(url, ids) {
  requests += 1;
  const request = requests;
  for (const id of ids) lastAsked.set(id, request);
  try {
    const page = await readPage(url);
    exchange(
      page,
      ids.filter((id) => lastAsked.get(id) === request),
    );
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
}

/** Exchange elements of this document for those of a fetched one; scroll positions inside them are kept. @param {Document} page @param {string[]} ids */
export function exchange(page, ids) {
  for (const id of ids) {
    const old = document.getElementById(id);
    const fresh = page.getElementById(id);
    if (!old || !fresh) continue;
    const top = old.scrollTop;
    old.replaceWith(document.adoptNode(fresh));
    fresh.scrollTop = top;
  }
}
