// Where the time and the tokens of a run went.

import { ofRun } from "./api.js";
import { freshTokens, reuse, sharedPrefix, stacked, strip } from "./charts.js";
import { h, replace, s } from "./dom.js";
import { barRow, legend, picture, roleClass } from "./draw.js";
import { empty, failure, later, section, table } from "./parts.js";
import { format } from "./route.js";
import { count, percent, plural, seconds, visible } from "./text.js";

export class ChartsView {
  constructor(root, run) {
    Object.assign(this, { root, run });
    this.soon = later(() => this.load(), 1500);
    this.load();
  }

  async load() {
    if (!this.figures) replace(this.root, h("p", { class: "wait-note" }, "Loading the figures …"));
    try {
      this.figures = await this.run.ctx.api.get(ofRun(this.run.thread, "/figures"), {}, this.run.abort.signal);
      if (!this.closed) this.show();
    } catch (problem) {
      if (problem.name !== "AbortError") replace(this.root, failure(problem, () => this.load()));
    }
  }

  changed(changed) {
    if (changed.some((entry) => entry.event.kind !== "model_text") && this.figures) this.soon();
  }

  show() {
    const { figures } = this;
    if (!figures.calls?.length && !figures.nodes?.length) {
      replace(this.root, empty("Nothing to draw yet", "The charts need at least one finished model call or node."));
      return;
    }
    replace(this.root, figures.complete === false ? h("p", { class: "note" }, "The trace is very long: these figures cover its beginning only.") : null,
      this.time(), this.tokens(), this.strip(), this.reuse(), this.laps());
  }

  time() {
    const nodes = this.figures.nodes ?? [];
    const roles = this.figures.roles ?? [];
    const part = [{ field: "seconds", name: "seconds", mark: "fill-a" }];
    return section("Time",
      h("h3", {}, "By node"), stacked(nodes, "node", part).map((row) => barRow({ ...row, label: visible(row.label) }, `${seconds(row.item.seconds)}, ${plural(row.item.times, "time")}`)),
      h("h3", {}, "Waiting for models, by role"), stacked(roles, "role", part).map((row) => barRow({ ...row, label: visible(row.label) }, `${seconds(row.item.seconds)}, ${plural(row.item.calls, "call")}`)));
  }

  tokens() {
    const roles = freshTokens(this.figures.roles ?? []);
    const parts = [
      { field: "fresh", name: "sent and processed", mark: "fill-a" },
      { field: "reused_tokens", name: "sent, taken from the server's cache", mark: "fill-b" },
      { field: "output_tokens", name: "generated", mark: "fill-c" },
    ];
    const said = (row) => (row.item.input_tokens === null ? "not measured" : `${count(row.item.input_tokens)} in, ${count(row.item.output_tokens)} out`);
    return section("Tokens by role", legend(parts.map((part) => [part.mark, part.name])), stacked(roles, "role", parts).map((row) => barRow({ ...row, label: visible(row.label) }, said(row))),
      table("Tokens and time by role", [
        ["Role", (one) => visible(one.role ?? "?")], ["Model", (one) => visible(one.model ?? ""), "wide"], ["Calls", (one) => count(one.calls), "num"],
        ["Tokens in", (one) => count(one.input_tokens), "num"], ["reused", (one) => count(one.reused_tokens), "num"], ["Tokens out", (one) => count(one.output_tokens), "num"],
        ["Time", (one) => seconds(one.seconds), "num"], ["of it loading", (one) => seconds(one.load_s), "num"], ["Retries", (one) => count(one.retries), "num"], ["Not measured", (one) => (one.unmeasured_calls ? plural(one.unmeasured_calls, "call") : ""), "num"],
      ], this.figures.roles ?? []));
  }

  strip() {
    const bars = strip(this.figures.calls ?? [], this.figures.span_s);
    if (!bars.length) return null;
    const roles = [...new Set(bars.map((bar) => bar.role))];
    const words = `${plural(this.figures.calls.length, "call")} over ${seconds(this.figures.span_s)}`;
    const drawn = bars.map((bar) => this.linked(bar.seq, s("rect", { x: bar.x * 1000, y: 2, width: Math.max(bar.w * 1000, 2), height: 36, class: `${roleClass(bar.role)}${bar.cut ? " cut" : ""}` },
      s("title", {}, `${bar.role}: ${seconds(bar.seconds)}, ${count(bar.tokens)} tokens${bar.calls > 1 ? `, ${bar.calls} calls` : ""}`))));
    const pauses = (this.figures.pauses ?? []).filter((one) => one.seconds).map((one) => s("rect", { x: (one.start_s / this.figures.span_s) * 1000, y: 16, width: Math.max((one.seconds / this.figures.span_s) * 1000, 1), height: 8, class: "pause" }, s("title", {}, `paused for ${seconds(one.seconds)}`)));
    return section("Calls over time", legend([...roles.map((role) => [roleClass(role), visible(role)]), ...(pauses.length ? [["pause", "paused"]] : [])]), picture(words, 40, pauses, drawn),
      h("p", { class: "said" }, `${words}. A click on a bar opens its call.`), this.callTable());
  }

  /** For the pointer; the table of calls has the same as links. */
  linked(seq, inside) {
    return s("g", { class: "opens", on: { click: () => this.run.ctx.go({ page: "run", run: this.run.thread, view: "timeline", seq }) } }, inside);
  }

  callTable() {
    const calls = this.figures.calls.slice(0, 300);
    const rest = this.figures.calls.length - calls.length;
    return h("details", {}, h("summary", {}, "The calls as a table"), table(rest ? `Calls (the first ${count(calls.length)} of ${count(this.figures.calls.length)})` : "Calls", [
      ["At", (call) => h("a", { href: format({ page: "run", run: this.run.thread, seq: call.seq_asked ?? call.seq }) }, seconds(call.start_s))],
      ["Role", (call) => visible(call.role ?? "")], ["Lap", (call) => count(call.lap), "num"], ["Time", (call) => seconds(call.seconds), "num"],
      ["Tokens in", (call) => count(call.input_tokens), "num"], ["reused", (call) => count(call.reused_tokens), "num"], ["Tokens out", (call) => count(call.output_tokens), "num"],
      ["Prompt characters", (call) => count(call.prompt_chars), "num"], ["shared with the prompt before", (call) => count(call.shared_prefix_chars), "num"],
    ], calls));
  }

  reuse() {
    const points = reuse(this.figures.calls ?? []);
    const shared = sharedPrefix(this.figures.calls ?? []);
    if (!points.length) return null;
    const width = 1000 / points.length;
    const bars = points.map((point, at) => this.linked(point.seq, [
      s("rect", { x: at * width, y: 0, width: Math.max(width - 1, 1), height: 60, class: "ground" }, s("title", {}, `${point.role}: ${percent(point.share)} of ${count(point.sent)} tokens reused`)),
      s("rect", { x: at * width, y: 60 - point.share * 60, width: Math.max(width - 1, 1), height: point.share * 60, class: "fill-b" }),
    ]));
    const sent = points.reduce((sum, point) => sum + point.sent, 0);
    const had = points.reduce((sum, point) => sum + point.reused, 0);
    const words = `${percent(had / sent)} of ${count(sent)} prompt tokens came from the server's prefix cache`;
    const drawn = picture(words, 60, bars);
    drawn.classList.add("tall");
    return section("Prefix reuse", drawn, h("p", { class: "said" }, `${words}. One bar is one call.`, shared === null ? "" : ` The prompts themselves share ${percent(shared)} of their characters with the prompt before of the same role: more cannot be reused.`));
  }

  laps() {
    const laps = this.figures.laps ?? [];
    if (!laps.length) return null;
    return section("Laps", table("Laps", [
      ["Lap", (lap) => (lap.seq ? h("a", { href: format({ page: "run", run: this.run.thread, seq: lap.seq }) }, count(lap.lap)) : count(lap.lap))],
      ["Check", (lap) => (lap.passed === true ? "passed" : lap.passed === false ? "failed" : "–")], ["Reviewer", (lap) => (lap.approved === true ? "approved" : lap.approved === false ? "rejected" : "–")],
      ["Time", (lap) => seconds(lap.seconds), "num"], ["Reason", (lap) => visible(String(lap.reason ?? "").slice(0, 300)), "wide"],
    ], laps.slice(0, 500)));
  }

  close() {
    this.closed = true;
  }
}
