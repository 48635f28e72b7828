// The list of runs: filters, order, and what the stream changes in it. Pure.

export const STATUSES = [
  "running", "paused", "interrupted", "passed", "accepted", "stopped", "capped", "nothing_to_fix", "budget", "cancelled", "error",
];
export const KINDS = ["code", "project", "research"];

/** Does a row belong to what the page asks for? The server decides the same way. */
export function matches(row, wanted) {
  if (row.eval && !wanted.evalruns) return false;
  if (wanted.status && !wanted.status.split(",").includes(row.status)) return false;
  if (wanted.kind && !wanted.kind.split(",").includes(row.kind)) return false;
  const words = (wanted.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${row.thread}\n${row.task}\n${row.outcome ?? ""}\n${row.status}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The rows after one was changed or came: newest first, one row per thread. */
export function withRow(rows, row, wanted) {
  const others = rows.filter((one) => one.thread !== row.thread);
  if (!matches(row, wanted)) return others;
  const at = others.findIndex((one) => newer(row, one));
  return at < 0 ? [...others, row] : [...others.slice(0, at), row, ...others.slice(at)];
}

function newer(one, two) {
  if (one.started !== two.started) return one.started > two.started;
  return one.thread > two.thread;
}

export function withoutRow(rows, thread) {
  return rows.filter((one) => one.thread !== thread);
}

/** What a status means, and how it is drawn: good, bad, wait, live or plain. */
export const TONES = {
  running: "live", paused: "wait", interrupted: "wait", passed: "good", accepted: "good", stopped: "plain", capped: "bad",
  nothing_to_fix: "plain", budget: "bad", cancelled: "plain", error: "bad",
};

const MEANINGS = {
  running: "it runs now",
  paused: "it waits for its owner: open it to answer",
  interrupted: "it was killed or stopped on the way: loop.py --continue goes on with it",
  passed: "the check passed",
  accepted: "the owner took the answer",
  stopped: "the owner ended it",
  capped: "too many rejections, and nobody was asked",
  nothing_to_fix: "the project's tests passed before anything was changed",
  budget: "its budget of tokens or time is spent",
  cancelled: "it was cancelled",
  error: "something outside the model failed: loop.py --continue tries again",
};

export function meaningOf(status) {
  return Object.hasOwn(MEANINGS, status) ? MEANINGS[status] : "";
}

export function toneOf(status) {
  return Object.hasOwn(TONES, status) ? TONES[status] : "plain";
}

/** A status as words: `nothing_to_fix` -> `nothing to fix`. */
export function words(status) {
  return String(status ?? "?").replaceAll("_", " ");
}

/** The address parameters of the list. */
export function listQuery(wanted, offset, limit) {
  return { q: wanted.q ?? "", status: wanted.status ?? "", kind: wanted.kind ?? "", evals: wanted.evalruns ? 1 : 0, offset, limit };
}
