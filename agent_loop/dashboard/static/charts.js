// What the charts draw, from the server's figures. Pure.

import { isNumber } from "./text.js";

const MOST_BARS = 600;

/** Calls as bars on the run's clock: x and w from 0 to 1. Neighbours are joined past `most`. */
export function strip(calls, span, most = MOST_BARS) {
  const bars = calls
    .filter((call) => isNumber(call.start_s) && isNumber(call.seconds))
    .map((call) => ({
      seq: call.seq_asked ?? call.seq, role: String(call.role ?? "?"), start: call.start_s, end: call.start_s + call.seconds,
      seconds: call.seconds, calls: 1, tokens: (call.input_tokens ?? 0) + (call.output_tokens ?? 0),
      cut: call.finish === "length" || call.context_cut === true,
    }));
  const whole = Math.max(span ?? 0, ...edges(bars), 0.001);
  return joined(bars, most).map((bar) => ({ ...bar, x: bar.start / whole, w: (bar.end - bar.start) / whole }));
}

function edges(bars) {
  return bars.length ? [bars.reduce((most, bar) => Math.max(most, bar.end), 0)] : [];
}

function joined(bars, most) {
  return grouped(bars, most).map((some) => ({
    ...some[0],
    role: some.every((bar) => bar.role === some[0].role) ? some[0].role : "several",
    end: some.at(-1).end,
    calls: some.length,
    cut: some.some((bar) => bar.cut),
    seconds: total(some, "seconds"),
    tokens: total(some, "tokens"),
  }));
}

function grouped(items, most) {
  const size = Math.max(1, Math.ceil(items.length / most));
  const found = [];
  for (let at = 0; at < items.length; at += size) found.push(items.slice(at, at + size));
  return found;
}

function total(items, name) {
  return items.reduce((sum, item) => sum + (isNumber(item[name]) ? item[name] : 0), 0);
}

/** Per call (or group of calls): tokens sent, and how many of them the server had already. */
export function reuse(calls, most = MOST_BARS) {
  const known = calls.filter((call) => isNumber(call.input_tokens) && call.input_tokens > 0);
  return grouped(known, most).map((some) => {
    const sent = total(some, "input_tokens");
    const had = Math.min(total(some, "reused_tokens"), sent);
    return { seq: some[0].seq_asked ?? some[0].seq, role: String(some[0].role ?? "?"), lap: some[0].lap, sent, reused: had, share: had / sent };
  });
}

/** Of all prompt characters, the part that the prompt before of the same role began with. */
export function sharedPrefix(calls) {
  const chars = total(calls, "prompt_chars");
  return chars > 0 ? total(calls, "shared_prefix_chars") / chars : null;
}

/** Rows of stacked bars: `parts` maps a field to its class; the widest row fills the line. */
export function stacked(items, label, parts) {
  const rows = items.map((item) => ({
    label: String(item[label] ?? "?"),
    parts: parts.map(({ field, name, mark }) => ({ name, mark, value: isNumber(item[field]) ? item[field] : null })),
    item,
  }));
  const sums = rows.map((row) => row.parts.reduce((sum, part) => sum + (part.value ?? 0), 0));
  const widest = sums.reduce((a, b) => Math.max(a, b), 0) || 1;
  return rows.map((row, at) => ({ ...row, sum: sums[at], parts: placed(row.parts, widest) }));
}

function placed(parts, widest) {
  let x = 0;
  return parts.map((part) => {
    const w = (part.value ?? 0) / widest;
    const found = { ...part, x, w };
    x += w;
    return found;
  });
}

/** Input tokens without those that were in the server's cache, so that the two can be stacked. */
export function freshTokens(roles) {
  return roles.map((role) => ({
    ...role,
    fresh: isNumber(role.input_tokens) ? Math.max(0, role.input_tokens - (role.reused_tokens ?? 0)) : null,
  }));
}

/** Points of a trend from 0 to 1 in both directions; a rate that was not measured leaves a gap. */
export function trend(reports) {
  const last = Math.max(1, reports.length - 1);
  return reports.map((report, at) => ({
    name: report.name, label: report.label, created: report.created, x: reports.length === 1 ? 0.5 : at / last,
    y: report.rate?.value ?? null, low: report.rate?.low ?? null, high: report.rate?.high ?? null,
  }));
}

/** Runs of neighbouring points that were measured: each becomes one line. */
export function segments(points) {
  const found = [];
  let some = [];
  for (const point of points) {
    if (isNumber(point.y)) some.push(point);
    else if (some.length) {
      found.push(some);
      some = [];
    }
  }
  if (some.length) found.push(some);
  return found;
}
