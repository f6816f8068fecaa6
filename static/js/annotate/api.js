// Calls of the document API: JSON in, JSON out, and three ways in which they fail.

const LONGEST_MS = 15_000;

/** The server cannot be reached, or answered too late to tell. */
export class Unreachable extends Error {}

/** There is no session any more. */
export class SignedOut extends Error {
  message = "you are signed out";
}

/** The server answered with an error; `body` is its JSON, or {} where it sent none. */
export class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

/**
 * GET without `body`, else POST it. Rejects with Unreachable, SignedOut or Refused.
 * @param {string} url @param {object} [body] @param {{keepalive?: boolean, cache?: RequestCache}} [options] keepalive: outlives the page
 */
export async function call(url, body, { keepalive = false, cache = "no-store" } = {}) {
  const headers = { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" };
  const options = { headers, keepalive, cache, signal: AbortSignal.timeout(LONGEST_MS) };
  if (body !== undefined) {
    Object.assign(headers, { "Content-Type": "application/json", "X-CSRFToken": csrfToken() });
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let response;
  let answer;
  try {
    response = await fetch(url, options);
    answer = isJson(response) ? await response.json() : {};
  } catch (error) {
    throw new Unreachable(error.message);
  }
  if (response.status === 401 || (response.ok && !isJson(response))) throw new SignedOut();
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

function isJson(response) {
  return (response.headers.get("Content-Type") ?? "").startsWith("application/json");
}

/** The cookie's value is new after each sign-in, also one in another tab; the page's own is as old as the page. */
function csrfToken() {
  const cookie = /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  return cookie ?? document.querySelector("meta[name=csrf-token]")?.content ?? "";
}
