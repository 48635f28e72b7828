// One entry of the timeline: its line, and its inside when it is open.

import { ofRun } from "./api.js";
import { h, replace } from "./dom.js";
import { facts, failure, mark } from "./parts.js";
import { format } from "./route.js";
import { at, PIECE, textBox } from "./textbox.js";
import { proofList } from "./proofs.js";
import { between, clock, count, oneLine, seconds, visible } from "./text.js";

const ICONS = {
  call: "✎", verdict: "⚖", review: "☑", paused: "⏸", owner: "☞", fault: "⚠", refused: "✗", repeated: "↻", candidate: "❏", start: "▶", end: "■",
  node: "·", step: "›", episode: "»", broken: "⚠", other: "•",
};

export function entryHead(entry, open, act, run) {
  const tone = entry.bad ? "bad" : entry.good ? "good" : entry.wait ? "wait" : entry.state === "waiting" ? "live" : "plain";
  const lap = entry.lap ? `lap ${entry.lap}` : "";
  return h("h3", {},
    h("button", { type: "button", class: `line ${tone}`, "aria-expanded": String(open), on: { click: act } },
      h("span", { class: "icon", "aria-hidden": "true" }, ICONS[entry.type] ?? "•"),
      h("span", { class: "what" }, h("strong", {}, visible(entry.title)), h("span", { class: "more" }, moreOf(entry, run))),
      h("span", { class: "when" }, h("span", {}, lap), h("span", {}, clock(entry.at)))));
}

function moreOf(entry, run) {
  if (entry.state === "lost") return "no reply: the run was cut off here, and asked again";
  if (entry.state !== "waiting") return visible(entry.more);
  const over = run.timeline.ended || run.run.row.status !== "running";
  if (over) return "no reply: the run was cut off here";
  return entry.live ? oneLine(entry.live.slice(-160), 160) : "waiting for the reply …";
}

/** Put the newest streamed words into an open entry. */
export function freshen(body, entry) {
  const place = body.querySelector(".live-text");
  if (place && entry.live) replace(place, visible(entry.live));
}

export function entryBody(entry, run, query = "") {
  const body = h("div", { class: "inside" }, h("p", { class: "wait-note" }, "Loading …"));
  fill(body, entry, run, query);
  return body;
}

async function fill(body, entry, run, query) {
  const whole = (seq) => run.ctx.api.get(ofRun(run.thread, `/events/${seq}`), { chars: PIECE }, run.abort.signal);
  try {
    const seqs = entry.type === "call" ? [entry.asked?.seq, entry.replied?.seq] : [entry.event.seq];
    const [one, two] = await Promise.all(seqs.map((seq) => (seq ? whole(seq) : null)));
    const box = boxes(run);
    const inside = entry.type === "call" ? call(entry, one, two, box) : (BODIES[entry.type] ?? raw)(one, box);
    replace(body, inside, foot(entry, run, query));
  } catch (problem) {
    if (problem.name !== "AbortError") replace(body, failure(problem, () => fill(body, entry, run, query)));
  }
}

/** A box for the text at a pointer of an event, with the way to the rest of it. */
function boxes(run) {
  return (event, pointer, label, code = false) => {
    const value = at(event, pointer);
    const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value, null, 1);
    const more = (offset, limit) => run.ctx.api.text(ofRun(run.thread, `/events/${event.seq}/text`), { pointer, offset, limit });
    if (typeof value !== "string" && cutInside(event.cut, pointer)) return fetched(more, { label, code });
    const chars = event.cut?.[pointer] ?? 0;
    return textBox(text, { label, chars, more: chars ? more : null, code });
  };
}

/** Was this value, or a text inside it, made shorter on its way here? */
function cutInside(cut, pointer) {
  return Object.keys(cut ?? {}).some((one) => one === pointer || one.startsWith(`${pointer}/`));
}

/** A box whose text comes piece by piece from the server, its length with the first. */
function fetched(more, how) {
  const place = h("div", {}, h("p", { class: "wait-note" }, "Loading …"));
  more(0, PIECE).then(
    ({ text, chars }) => replace(place, textBox(text, { ...how, chars, more })),
    (problem) => problem.name !== "AbortError" && replace(place, failure(problem)),
  );
  return place;
}

function foot(entry, run, query) {
  const seq = (entry.asked ?? entry.event).seq;
  const raw = `${ofRun(run.thread, `/events/${seq}/text`)}?pointer=&limit=1000000`;
  return h("p", { class: "foot" }, h("a", { href: format({ page: "run", run: run.thread, seq }) }, "Link to this entry"), " · ",
    h("a", { href: raw, target: "_blank", rel: "noopener" }, "The line as it was written"), query ? ` · found by “${oneLine(query, 40)}”` : "");
}

function call(entry, asked, replied, box) {
  const messages = asked?.messages ?? [];
  const list = Array.isArray(messages) ? messages : [];
  const kept = Number(asked?.kept) || 0;
  const before = kept ? h("p", { class: "said" }, `The first ${count(kept)} messages are those of the call before; these came since:`) : null;
  const prompt = list.map((message, n) => h("details", { class: `message ${roleOf(message)}`, open: n === list.length - 1 || n === 0 },
    h("summary", {}, h("strong", {}, visible(String(message?.role ?? "?"))), ` · ${count(lengthOf(asked, message, n))} characters · `, h("span", { class: "more" }, oneLine(message?.content ?? "", 90))),
    box(asked, `/messages/${n}/content`, `Prompt, message ${kept + n + 1}, ${message?.role ?? ""}`), toolCalls(message)));
  const all = asked?.cut?.["/messages"] ?? list.length;
  const rest = all > list.length ? h("p", { class: "note" }, `${count(all - list.length)} more messages stand in the line as it was written.`) : null;
  const parts = [h("h4", {}, `Prompt to ${visible(asked?.model ?? "the model")} (${count(kept + all)} messages)`), before, prompt, rest];
  if (!replied) parts.push(h("h4", {}, "Reply"), h("pre", { class: "live-text", tabindex: "0", role: "region", "aria-label": "Reply so far" }, visible(entry.live) || "None yet."));
  else parts.push(reply(replied, asked, box));
  return parts;
}

function roleOf(message) {
  return ["system", "user", "assistant", "tool"].includes(message?.role) ? message.role : "other";
}

function lengthOf(event, message, n) {
  return event.cut?.[`/messages/${n}/content`] ?? String(message?.content ?? "").length;
}

function toolCalls(message) {
  const calls = Array.isArray(message?.tool_calls) ? message.tool_calls : [];
  return calls.map((one) => textBox(JSON.stringify(one, null, 1), { label: "Tool call", code: true }));
}

function reply(replied, asked, box) {
  const used = replied.usage ?? {};
  const measured = !used.unmeasured_calls;
  const notes = Array.isArray(replied.notes) ? replied.notes : [];
  return [
    replied.reasoning ? [h("h4", {}, "Reasoning"), box(replied, "/reasoning", "Reasoning")] : null,
    h("h4", {}, "Reply", replied.finish === "length" ? mark("cut at its token limit", "bad") : null, replied.context_cut ? mark("prompt cut by the server", "bad") : null),
    box(replied, "/text", "Reply"),
    Array.isArray(replied.tool_calls) && replied.tool_calls.length ? box(replied, "/tool_calls", "Tool calls", true) : null,
    facts([
      ["Answered by", visible(replied.answered ?? "")], ["Tokens in", measured ? count(used.input_tokens) : "not measured"],
      ["of them reused", measured ? count(used.reused_tokens) : null], ["Tokens out", measured ? count(used.output_tokens) : "not measured"],
      ["Time", seconds(used.seconds)], ["loading weights", used.load_s ? seconds(used.load_s) : null], ["Retries", used.retries ? count(used.retries) : null],
      ["From question to reply", asked ? seconds(between(asked.at, replied.at)) : null],
    ]),
    notes.length ? h("ul", { class: "notes" }, notes.map((note) => h("li", {}, visible(String(note))))) : null,
  ];
}

const BODIES = {
  verdict: (event, box) => [
    h("p", { class: "reason" }, visible(event.reason ?? "")), proofList(event),
    h("h4", {}, "What the worker is told"), box(event, "/feedback", "Feedback"),
    h("h4", {}, "Output of the check"), box(event, "/output", "Output of the check", true),
  ],
  candidate: (event, box) => [notesOf(event), h("h4", {}, "Answer taken from the reply"), box(event, "/answer", "Answer", true)],
  refused: (event, box) => [h("h4", {}, "Why"), box(event, "/problem", "Why")],
  repeated: (event, box) => [h("h4", {}, "What the worker is told"), box(event, "/problem", "Why")],
  review: (event, box) => [box(event, "/text", "Review")],
  paused: (event, box) => [h("h4", {}, "What the owner is asked"), box(event, "/question", "Question")],
  owner: (event, box) => [facts([["Answer", visible(event.answer ?? "")], ["From", visible(event.source ?? "")]]), event.text ? box(event, "/text", "Guidance") : null],
  fault: (event, box) => [box(event, "/problem", "Fault")],
  end: (event, box) => [box(event, "/reason", "Reason")],
  broken: (event, box) => [box(event, "/text", "Line", true)],
  step: (event, box) => step(event, box),
  episode: (event, box) => (event.kind === "episode_summary" ? box(event, "/text", "Summary") : box(event, "", "Event", true)),
};

export function step(event, box) {
  return [
    h("h4", {}, "Tool call"), box(event, "/call", "Tool call", true),
    h("h4", {}, "Observation", event.observation?.ok === false ? mark("failed", "bad") : null, event.observation?.cut ? mark("cut", "wait") : null),
    typeof event.observation === "string" ? box(event, "/observation", "Observation", true) : box(event, "/observation/text", "Observation", true),
    facts([["Time", seconds(event.seconds)], ["Submitted", event.observation?.submitted ? "yes" : null]]),
  ];
}

function notesOf(event) {
  const notes = Array.isArray(event.notes) ? event.notes : [];
  return notes.length ? h("ul", { class: "notes" }, notes.map((note) => h("li", {}, visible(String(note))))) : null;
}

function raw(event) {
  return [textBox(JSON.stringify(event, null, 1), { label: "Event", code: true })];
}

export { boxes };
