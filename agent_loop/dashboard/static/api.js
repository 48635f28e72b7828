// Questions to the server that this page came from, and to no other.

export class ApiError extends Error {
  constructor(status, code, message, retry) {
    super(message);
    this.status = status;
    this.code = code;
    this.retry = retry;
  }
}

const LOGIN = "This browser is not logged in. Open the address that the terminal printed when the dashboard started; " +
  "if that was used already, start the dashboard again.";

/** `/api/runs` and `{q: "a b"}` -> `/api/runs?q=a%20b`; empty values are left out. */
export function address(path, query = {}) {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return parts.length ? `${path}?${parts.join("&")}` : path;
}

/** The address of something of one run. */
export function ofRun(thread, rest = "") {
  return `/api/runs/${encodeURIComponent(thread)}${rest}`;
}

export class Api {
  constructor() {
    this.session = null;
  }

  async begin() {
    this.session = await this.get("/api/session");
    return this.session;
  }

  async get(path, query, signal) {
    const answer = await send(address(path, query), { signal });
    return answer.json();
  }

  /** A piece of a long text: `{text, chars, next}`; `next` is null at the end. */
  async text(path, query, signal) {
    const answer = await send(address(path, query), { signal });
    const next = answer.headers.get("X-Text-Next");
    return { text: await answer.text(), chars: Number(answer.headers.get("X-Text-Chars") ?? 0), next: next ? Number(next) : null };
  }

  async post(path, body) {
    const headers = { "Content-Type": "application/json", "X-CSRF-Token": this.session?.csrf ?? "" };
    const answer = await send(path, { method: "POST", headers, body: JSON.stringify(body) });
    return answer.json();
  }
}

async function send(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", cache: "no-cache", redirect: "error", ...options });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new ApiError(0, "offline", "The server does not answer. Is the dashboard still running in its terminal?");
  }
  if (answer.ok) return answer;
  throw await refusal(answer);
}

async function refusal(answer) {
  if (answer.status === 401) return new ApiError(401, "login", LOGIN);
  let said = {};
  try {
    said = (await answer.json()).error ?? {};
  } catch {
    // No JSON: the status has to do.
  }
  const retry = Number(answer.headers.get("Retry-After")) || null;
  return new ApiError(answer.status, said.code ?? "", said.message ?? `The server refused (status ${answer.status}).`, retry);
}
