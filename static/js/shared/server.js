// Asking the server, the only place that does: JSON in and out, or a page to take parts from; three ways of failing.

const LONGEST_MS = 15_000;
const JSON_TYPE = "application/json";
const SERVER_ERROR = 500;

/** The server cannot be reached, or answered too late to tell. */
export class Unreachable extends Error {}

/** There is no session any more. */
export class SignedOut extends Error {
  message = "you are signed out";
}

/** The server answered with an error; `body` is its JSON, or {} where it sent none. */
export class Refused extends Error {
  /** @param {number} status @param {Record<string, any>} body */
  constructor(status, body) {
    super(body.error ?? `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }

  /** Whether trying again may help. */
  get isPassing() {
    return this.status >= SERVER_ERROR;
  }
}

/**
 * GET without `body`, else POST it. Rejects with Unreachable, SignedOut or Refused.
 * @param {string} url
 * @param {Record<string, any>} [body]
 * @param {{keepalive?: boolean, cache?: RequestCache}} [options] keepalive: outlives the page
 * @returns {Promise<any>}
 */
export async function call(url, body, { keepalive = false, cache = "no-store" } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: JSON_TYPE, "X-Requested-With": "XMLHttpRequest" };
  /** @type {RequestInit} */
  const options = { headers, keepalive, cache };
  if (body !== undefined) {
    Object.assign(headers, { "Content-Type": JSON_TYPE, "X-CSRFToken": csrfToken() });
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  const [response, answer] = await ask(url, options, async (given) => (isJson(given) ? given.json() : {}));
  if (response.status === 401 || (response.ok && !isJson(response))) throw new SignedOut();
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

/**
 * A page of this site, parsed into a document that runs no scripts. Rejects with Unreachable or Refused.
 * @param {string} url
 */
export async function readPage(url) {
  const [response, text] = await ask(url, { headers: { Accept: "text/html" } }, (given) => given.text());
  if (!response.ok) throw new Refused(response.status, {});
  return new DOMParser().parseFromString(text, "text/html");
}

/**
 * @template Body
 * @param {string} url
 * @param {RequestInit} options
 * @param {(response: Response) => Promise<Body>} read
 * @returns {Promise<[Response, Body]>}
 */
async function ask(url, options, read) {
  try {
    const response = await fetch(url, {
      ...options,
      credentials: "same-origin",
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    return [response, await read(response)];
  } catch (error) {
    const late = error instanceof DOMException && error.name === "TimeoutError";
    throw new Unreachable(late ? "the server did not answer in time" : "the server cannot be reached");
  }
}

/** @param {Response} response */
function isJson(response) {
  return (response.headers.get("Content-Type") ?? "").startsWith(JSON_TYPE);
}

/** The cookie's value is new after each sign-in, also one in another tab; the page's own is as old as the page. */
function csrfToken() {
  const cookie = /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  return (
    cookie ?? /** @type {HTMLMetaElement | null} */ (document.querySelector("meta[name=csrf-token]"))?.content ?? ""
  );
}
