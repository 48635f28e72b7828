// From trace events to the entries a person reads: a call and its reply are one entry. Pure.

import { isNumber, oneLine, plural, seconds } from "./text.js";

/** The entries so far; `add` takes events in their order and gives the entries it changed. */
export class Timeline {
  constructor() {
    this.entries = [];
    this.last = 0;
    this.now = null;
    this.ended = null;
    this.pause = null;
    this.started = null;
  }

  /** One event. An event that was taken before (a reconnect sends it again) changes nothing. */
  add(event) {
    if (!event || typeof event.kind !== "string") return [];
    if (isNumber(event.seq)) {
      if (event.seq <= this.last) return [];
      this.last = event.seq;
    }
    const made = Object.hasOwn(MAKERS, event.kind) ? MAKERS[event.kind] : other;
    const changed = made(this, event);
    return Array.isArray(changed) ? changed : [changed];
  }

  addAll(events) {
    const changed = new Set();
    for (const event of events) for (const entry of this.add(event)) changed.add(entry);
    return [...changed];
  }

  /** Keep at most half as many again as `most` entries; gives the number of the last event let go. */
  forget(most) {
    if (this.entries.length <= most * 1.5) return 0;
    const gone = this.entries.splice(0, this.entries.length - most);
    return gone.at(-1).id;
  }

  /** The call that waits for its reply in this node. */
  waiting(node) {
    for (let at = this.entries.length - 1; at >= 0; at -= 1) {
      const entry = this.entries[at];
      if (entry.type === "call" && entry.state === "waiting" && (!node || entry.node === node)) return entry;
    }
    return null;
  }

  /** Laps, tokens and seconds so far, as the row of an ended run has them. */
  sums() {
    const found = { laps: 0, input_tokens: 0, output_tokens: 0, seconds: 0 };
    for (const { type, lap, usage } of this.entries) {
      if (type === "verdict" || type === "refused") found.laps = Math.max(found.laps, lap ?? 0);
      if (usage) for (const name of ["input_tokens", "output_tokens", "seconds"]) found[name] += isNumber(usage[name]) ? usage[name] : 0;
    }
    return found;
  }

  push(entry) {
    this.entries.push(entry);
    return entry;
  }
}

const MAKERS = {
  run_started(line, event) {
    line.ended = null;
    line.pause = null;
    line.started ??= event;
    for (const entry of line.entries) if (entry.state === "waiting") entry.state = "lost";
    const title = event.resumed ? "Run goes on" : "Run started";
    return line.push(entryOf(event, "start", title, [], { more: oneLine(event.task ?? "") }));
  },
  node_started(line, event) {
    line.now = { node: event.node, lap: event.lap, at: event.at };
    const lost = line.waiting(event.node);
    if (lost) lost.state = "lost";
    return lost ? [lost] : [];
  },
  node_finished(line, event) {
    if (line.now?.node === event.node) line.now = null;
    const more = seconds(event.seconds);
    return line.push(entryOf(event, "node", `${event.node} finished`, ["results"], { more, quiet: true }));
  },
  model_asked(line, event) {
    const entry = entryOf(event, "call", `${event.role ?? event.node} asked`, ["calls"], {
      state: "waiting", asked: event, replied: null, live: "", more: oneLine(event.model ?? "", 60),
    });
    return line.push(entry);
  },
  model_text(line, event) {
    const call = line.waiting(event.node);
    if (!call) return [];
    call.live = (call.live + String(event.text ?? "")).slice(-20_000);
    return call;
  },
  model_replied(line, event) {
    const call = line.waiting(event.node) ?? line.push(entryOf(event, "call", "", ["calls"], { asked: null, live: "" }));
    Object.assign(call, { state: "done", replied: event, usage: event.usage ?? {}, live: "" });
    call.title = `${event.role ?? event.node} replied`;
    call.more = replyLine(event);
    if (event.finish === "length" || event.context_cut) call.groups.add("failures");
    return call;
  },
  candidate: (line, event) => line.push(entryOf(event, "candidate", "Candidate", ["results"], { more: noted(event.notes) })),
  candidate_refused: (line, event) =>
    line.push(entryOf(event, "refused", "Reply could not be used", ["results", "failures"], { more: oneLine(event.problem ?? "") })),
  repeated: (line, event) =>
    line.push(entryOf(event, "repeated", `Same answer as lap ${event.repeat_of}`, ["results", "failures"], { more: "not judged again" })),
  verdict(line, event) {
    const title = event.passed ? "Check passed" : "Check failed";
    const groups = event.passed ? ["results"] : ["results", "failures"];
    const more = [oneLine(event.reason ?? "", 100), seconds(event.seconds)].join(" · ");
    return line.push(entryOf(event, "verdict", title, groups, { more, good: event.passed === true, bad: event.passed !== true }));
  },
  review(line, event) {
    const groups = event.approved ? ["results"] : ["results", "failures"];
    const title = event.approved ? "Review: approved" : "Review: rejected";
    return line.push(entryOf(event, "review", title, groups, { more: oneLine(event.text ?? "", 100), bad: !event.approved }));
  },
  paused(line, event) {
    line.pause = event;
    return line.push(entryOf(event, "paused", "Owner call: the run waits for you", ["pauses"], { more: oneLine(event.question ?? "", 100), wait: true }));
  },
  owner_replied(line, event) {
    line.pause = null;
    const more = `${event.answer ?? ""} · from ${event.source ?? "?"}`;
    return line.push(entryOf(event, "owner", "The owner answered", ["pauses"], { more: oneLine(more) }));
  },
  fault: (line, event) =>
    line.push(entryOf(event, "fault", `Fault in ${event.node ?? "the run"}`, ["failures"], { more: oneLine(event.problem ?? "", 100), bad: true })),
  run_ended(line, event) {
    line.ended = event;
    line.now = null;
    const good = event.outcome === "passed" || event.outcome === "accepted";
    const bad = !good && event.outcome !== "paused";
    const more = oneLine(event.reason ?? "", 100);
    return line.push(entryOf(event, "end", `Run ended: ${event.outcome}`, bad ? ["results", "failures"] : ["results"], { more, good, bad }));
  },
  episode_step(line, event) {
    const entry = entryOf(event, "step", `Step ${event.step ?? "?"}: ${stepName(event)}`, ["results"], { more: seconds(event.seconds) });
    if (stepFailed(event)) entry.groups.add("failures");
    entry.bad = stepFailed(event);
    return line.push(entry);
  },
  broken: (line, event) =>
    line.push(entryOf(event, "broken", "A line that is no event", ["failures"], { more: "torn by a kill, or written by something else", bad: true })),
  episode_started: (line, event) => line.push(entryOf(event, "episode", "Episode started", ["results"], { more: oneLine(event.protocol ?? "") })),
  episode_summary: (line, event) =>
    line.push(entryOf(event, "episode", "Earlier steps put into a summary", ["results"], { more: oneLine(event.text ?? "", 100) })),
  episode_ended: (line, event) =>
    line.push(entryOf(event, "episode", "Episode ended", ["results"], { more: endOf(event) })),
};

function other(line, event) {
  return line.push(entryOf(event, "other", oneLine(event.kind, 60), ["results"], {}));
}

function entryOf(event, type, title, groups, more) {
  return {
    id: event.seq ?? 0, type, title, more: "", at: event.at, node: event.node, role: event.role, lap: event.lap,
    groups: new Set(groups), event, ...more,
  };
}

function endOf(event) {
  return [oneLine(event.reason ?? ""), plural(event.steps, "step"), seconds(event.seconds)].join(" · ");
}

function replyLine(event) {
  const used = event.usage ?? {};
  const parts = [seconds(used.seconds)];
  if (used.unmeasured_calls) parts.push("tokens not measured");
  else parts.push(`${plural(used.input_tokens, "token")} in, ${used.output_tokens ?? "–"} out`);
  if (event.finish === "length") parts.push("cut at its token limit");
  if (event.context_cut) parts.push("prompt cut by the server");
  return parts.join(" · ");
}

function noted(notes) {
  return Array.isArray(notes) && notes.length ? oneLine(notes.join(" · "), 100) : "";
}

/** What a step did, in one line: the tool and its first argument. */
export function stepName(event) {
  const call = event.call ?? {};
  const args = call.arguments && typeof call.arguments === "object" ? Object.values(call.arguments) : [];
  const first = args.length ? args[0] : "";
  return oneLine(`${call.name ?? "no tool call"} ${typeof first === "string" ? first : JSON.stringify(first)}`, 90);
}

function stepFailed(event) {
  return Boolean(event.observation && event.observation.ok === false);
}

export const FILTERS = [
  ["all", "Everything"],
  ["calls", "Model calls"],
  ["results", "Node results"],
  ["pauses", "Pauses"],
  ["failures", "Failures"],
];

/** Entries a filter and a search leave. A node's own end is noise unless results were asked for. */
export function chosen(entries, filter, query, hits = null) {
  const wanted = query.trim().toLowerCase();
  return entries.filter((entry) => {
    if (filter !== "all" && !entry.groups.has(filter)) return false;
    if (filter === "all" && entry.quiet && !wanted) return false;
    if (!wanted) return true;
    if (hits && numbersOf(entry).some((seq) => hits.has(seq))) return true;
    return textOf(entry).toLowerCase().includes(wanted);
  });
}

/** Numbers of the events that an entry shows. */
export function numbersOf(entry) {
  return [entry.asked?.seq, entry.replied?.seq, entry.event?.seq].filter(isNumber);
}

/** Everything in an entry that a search looks at, as far as this page has it. */
export function textOf(entry) {
  const found = [entry.title, entry.more];
  collect(entry.asked ?? entry.event, found, 0);
  if (entry.replied && entry.replied !== entry.event) collect(entry.replied, found, 0);
  return found.join("\n");
}

function collect(value, into, depth) {
  if (typeof value === "string") into.push(value);
  else if (value && typeof value === "object" && depth < 6) for (const one of Object.values(value)) collect(one, into, depth + 1);
}
