// What came of a run: verdict, answer, test output, review, and what it ran with.

import { ofRun } from "./api.js";
import { h, replace } from "./dom.js";
import { empty, facts, section, table } from "./parts.js";
import { proofList } from "./proofs.js";
import { at, textBox } from "./textbox.js";
import { count, seconds, visible } from "./text.js";

export class ResultView {
  constructor(root, run) {
    Object.assign(this, { root, run });
    this.record(run.run);
  }

  record(data) {
    const { record } = data;
    if (!record) {
      replace(this.root, empty("No result yet", "The record is written when the run begins and again when it ends. The timeline shows what it does meanwhile."));
      return;
    }
    const mark = JSON.stringify([record.outcome, record.ended, record.laps?.length, record.answer_digest]);
    if (mark === this.mark) return;
    this.mark = mark;
    replace(this.root, this.verdict(record), this.answer(record), this.tokens(record), this.laps(record), this.with(record, data));
  }

  box(pointer, label, code = false) {
    const record = this.run.run.record;
    const value = at(record, pointer);
    const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value, null, 1);
    const chars = this.run.run.cut?.[pointer] ?? 0;
    const more = (offset, limit) => this.run.ctx.api.text(ofRun(this.run.thread, "/text"), { pointer, offset, limit });
    return textBox(text, { label, chars, more: chars ? more : null, code });
  }

  verdict(record) {
    const { verdict } = record;
    if (!verdict) return section("Verdict", h("p", {}, "Nothing has been judged."));
    return section(verdict.passed ? "Verdict: passed" : "Verdict: not passed",
      h("p", { class: `reason ${verdict.passed ? "good" : "bad"}` }, visible(verdict.reason ?? "")),
      facts([["Judged in", verdict.isolation], ["Time", seconds(verdict.seconds)]]), proofList(verdict));
  }

  answer(record) {
    const output = record.test_output ? section("Output of the check", this.box("/test_output", "Output of the check", true)) : null;
    return [
      section("Answer", record.answer ? this.box("/answer", "Answer", true) : h("p", {}, "None so far.")),
      output,
      record.review ? section("Review", this.box("/review", "Review")) : null,
      record.plan ? section("Plan", this.box("/plan", "Plan")) : null,
    ];
  }

  tokens(record) {
    const rows = Object.entries(record.tokens ?? {});
    if (!rows.length) return null;
    const sum = (field) => rows.reduce((all, [, used]) => all + (used[field] ?? 0), 0);
    const names = ["calls", "input_tokens", "reused_tokens", "output_tokens"];
    const all = Object.fromEntries([...names, "seconds", "unmeasured_calls"].map((name) => [name, sum(name)]));
    return section("Tokens and time", table("Tokens and time by node", [
      ["Node", ([node]) => visible(node)],
      ["Calls", ([, used]) => count(used.calls), "num"],
      ["Tokens in", ([, used]) => count(used.input_tokens), "num"],
      ["reused", ([, used]) => count(used.reused_tokens), "num"],
      ["Tokens out", ([, used]) => count(used.output_tokens), "num"],
      ["not measured", ([, used]) => (used.unmeasured_calls ? `${count(used.unmeasured_calls)} calls` : ""), "num"],
      ["Time", ([, used]) => seconds(used.seconds), "num"],
    ], rows.length > 1 ? [...rows, ["all", all]] : rows));
  }

  laps(record) {
    const laps = Array.isArray(record.laps) ? record.laps : [];
    if (!laps.length) return null;
    return section("Laps", table("Laps", [
      ["Lap", (lap) => count(lap.n)], ["By", (lap) => visible(lap.by ?? "")],
      ["Check", (lap) => (lap.problem ? "could not be used" : lap.passed ? "passed" : "failed")],
      ["Result", (lap) => visible(String(lap.problem || lap.result || "").slice(0, 200)), "wide"],
      ["Guidance", (lap) => visible(String(lap.guidance ?? "").slice(0, 200)), "wide"],
    ], laps));
  }

  with(record, data) {
    const more = { fingerprints: "Models", sandbox: "Sandbox", config: "Configuration" };
    return section("What it ran with",
      facts([["Task hash", visible(record.task_hash ?? "")], ["Configuration hash", visible(record.config_hash ?? "")], ["Format failures", count(record.format_failures)], ["Owner calls", count(record.owner_calls)]]),
      Object.entries(more).map(([name, title]) => (record[name] ? h("details", {}, h("summary", {}, title), textBox(JSON.stringify(record[name], null, 1), { label: title, code: true })) : null)),
      data.task ? h("details", {}, h("summary", {}, "Task"), textBox(JSON.stringify(data.task, null, 1), { label: "Task", code: true })) : null);
  }

  close() {}
}
