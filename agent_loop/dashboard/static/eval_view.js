// One report: overall, per task, trend, every attempt.

import { segments, trend } from "./charts.js";
import { h, replace } from "./dom.js";
import { lineChart, rateBar } from "./draw.js";
import { rateWords } from "./evals_view.js";
import { badge, button, facts, loading, section, table } from "./parts.js";
import { format } from "./route.js";
import { textBox } from "./textbox.js";
import { count, isNumber, percent, plural, seconds, stamp, visible } from "./text.js";

const FIRST = 200;

export class EvalView {
  constructor(root, ctx, place) {
    this.ctx = ctx;
    loading(root, "the report", async () => this.page(await ctx.api.get(`/api/evals/${encodeURIComponent(place.report)}`)));
  }

  page({ report, overall, tasks, attempts, trend: before, problem }) {
    const rows = attempts ?? [];
    return [
      h("h1", {}, "Eval ", h("bdi", {}, visible(report.label ?? report.name))),
      h("p", { class: "thread" }, `${stamp(report.created)}${report.finished ? "" : " · unfinished: running the same label goes on with it"}`),
      problem ? h("p", { class: "note bad" }, visible(problem)) : null, overall ? this.overall(overall) : null,
      tasks?.length ? this.tasks(tasks, rows) : null, this.trend(before ?? []), this.attempts(rows), this.identity(report),
    ];
  }

  overall(overall) {
    const at = (values, name) => Object.entries(values ?? {}).map(([k, value]) => [name(k), isNumber(value) ? percent(value) : "not measured"]);
    return section("Overall", h("p", { class: "big" }, rateWords(overall.rate)), rateBar(`Pass rate ${rateWords(overall.rate)}`, overall.rate),
      facts([["Attempts that count", count(overall.n)], ["Passed", count(overall.passed)], ["Environment failed", count(overall.environment)],
        ["Seconds an attempt", spread(overall.seconds, seconds)], ["Tokens an attempt", spread(overall.tokens, count)], ...at(overall.pass_at, (k) => `pass@${k}`), ...at(overall.pass_hat, (k) => `pass^${k}`)]));
  }

  tasks(tasks, rows) {
    const of = (task, wanted) => count(rows.filter((row) => row.task === task.task && wanted(row)).length);
    return section("By task", tasks.map((task) => h("div", { class: "bar-row" }, h("span", { class: "bar-name" }, h("bdi", {}, visible(task.task))), rateBar(`${visible(task.task)}: ${rateWords(task.rate)}`, task.rate),
      h("span", { class: "num" }, `${count(task.passed)}/${count(task.n)} · ${rateWords(task.rate)}`))),
    table("By task", [
      ["Task", (task) => visible(task.task)], ["Passed", (task) => `${count(task.passed)} of ${count(task.n)}`, "num"], ["Rate", (task) => rateWords(task.rate), "num"],
      ["Seconds", (task) => spread(task.seconds, seconds), "num"], ["Tokens", (task) => spread(task.tokens, count), "num"], ["To look at", (task) => of(task, (row) => row.looks > 0), "num"],
      ["Environment failed", (task) => of(task, (row) => row.status === "environment"), "num"],
    ], tasks));
  }

  trend(reports) {
    if (reports.length < 2) return null;
    const points = trend(reports);
    return section("Trend", lineChart(`Pass rates of ${plural(reports.length, "report")} of the same tasks, oldest first`, segments(points)), h("p", { class: "said" }, "The three lines are 0, 50 and 100 %; each point has its interval."),
      table("Reports of the same tasks", [["Report", (one) => h("a", { href: format({ page: "eval", report: one.name }) }, visible(one.label ?? one.name))], ["Of", (one) => stamp(one.created)], ["Rate", (one) => rateWords(one.rate), "num"]], reports));
  }

  attempts(attempts) {
    const place = h("div", {});
    const show = (most) => replace(place, table("Attempts", COLUMNS, attempts.slice(0, most)),
      attempts.length > most ? button(`Show ${count(Math.min(FIRST, attempts.length - most))} more of ${count(attempts.length)}`, () => show(most + FIRST)) : null);
    show(FIRST);
    return section("Every attempt", attempts.length ? place : h("p", {}, "None has ended so far."));
  }

  identity(report) {
    return section("What it ran with", ["plan", "identity", "adopted"].filter((name) => report[name]).map((name) => h("details", {}, h("summary", {}, name[0].toUpperCase() + name.slice(1)), textBox(JSON.stringify(report[name], null, 1), { label: name, code: true }))));
  }

  close() {}
}

const COLUMNS = [
  ["Task", (one) => visible(one.task)], ["No.", (one) => count(one.n), "num"],
  ["Run", (one) => (one.run ? h("a", { href: format({ page: "run", run: one.run }) }, visible(one.run)) : visible(one.thread ?? "")), "wide"],
  ["Outcome", (one) => (one.outcome ? badge(one.outcome) : visible(one.status ?? ""))], ["Laps", (one) => count(one.laps), "num"], ["Time", (one) => seconds(one.seconds), "num"],
  ["Tokens in / out", (one) => `${count(one.tokens?.input)} / ${count(one.tokens?.output)}`, "num"], ["Problem", (one) => visible(String(one.problem ?? "").slice(0, 300)), "wide"],
];

/** A mean, with its interval where there is one. */
function spread(value, show) {
  if (isNumber(value)) return show(value);
  if (!isNumber(value?.value)) return "not measured";
  return isNumber(value.low) && isNumber(value.high) ? `${show(value.value)} (${show(value.low)} to ${show(value.high)})` : show(value.value);
}
