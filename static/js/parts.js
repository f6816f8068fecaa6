// Reading parts of a page again: the server renders, the browser only exchanges elements of the same id.

/**
 * Fetch a page of this site and exchange the named elements of this document for its own.
 * The document it is parsed into runs no scripts.
 * @param {string} url
 * @param {string[]} ids elements that are in both; the ones missing on either side stay as they are
 * @returns {Promise<Document | null>} the fetched document; null when the server did not answer with a page
 */
export async function readAgain(url, ids) {
  const response = await fetch(url, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (!response.ok) return null;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  exchange(page, ids);
  return page;
}

/** Exchange elements of this document for those of a fetched one; scroll positions inside them are kept. */
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
