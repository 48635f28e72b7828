// Two reports side by side, with the paired test.

import { h } from "./dom.js";
import { legend, rateBar } from "./draw.js";
import { rateWords } from "./evals_view.js";
import { empty, loading, section, table } from "./parts.js";
import { format } from "./route.js";
import { count, isNumber, plural, visible } from "./text.js";

const FILLS = ["fill-a", "fill-c"];

export class CompareView {
  constructor(root, ctx, place) {
    loading(root, "the comparison", async () => {
      if (place.reports.length < 2) return empty("Two reports are needed", "Tick two reports on the page Evals.");
      return page(await ctx.api.get("/api/evals/compare", { reports: place.reports.join(",") }));
    });
  }

  close() {}
}

function page({ reports, differs, pairs, tasks, problem }) {
  return [
    h("h1", {}, "Comparison"), problem ? h("p", { class: "note bad" }, visible(problem)) : null,
    (differs ?? []).length ? warning(differs) : null,
    section("Pass rates", legend(reports.map((report, at) => [FILLS[at] ?? "fill-b", visible(report.label ?? report.name)])), reports.map((report, at) => h("div", { class: "bar-row" },
      h("a", { class: "bar-name", href: format({ page: "eval", report: report.name }) }, h("bdi", {}, visible(report.label ?? report.name))), rateBar(`${visible(report.label ?? "")}: ${rateWords(report.rate)}`, report.rate, FILLS[at] ?? "fill-b"), h("span", { class: "num" }, rateWords(report.rate))))),
    (pairs ?? []).map((pair) => paired(pair, reports)),
    section("By task", (tasks ?? []).map((task) => h("div", { class: "pair-rows" }, h("h3", {}, h("bdi", {}, visible(task.task))), task.rates.map((rate, at) => h("div", { class: "bar-row" },
      h("span", { class: "bar-name" }, visible(reports[at]?.label ?? "")), rateBar(`${visible(task.task)}, ${visible(reports[at]?.label ?? "")}: ${rateWords(rate)}`, rate, FILLS[at] ?? "fill-b"), h("span", { class: "num" }, rateWords(rate))))))),
  ];
}

function warning(differs) {
  const shown = (value) => visible(typeof value === "string" ? value : JSON.stringify(value) ?? "–").slice(0, 300);
  return h("section", { class: "note bad", "aria-label": "Warning" }, h("h2", {}, "These reports did not run with the same things"), h("p", {}, "A difference in their rates may come from that."),
    h("ul", {}, differs.map((one) => h("li", {}, typeof one === "string" ? visible(one) : shown(one)))));
}

function paired(pair, reports) {
  const name = (one) => visible(reports.find((report) => report.name === one)?.label ?? one);
  const said = isNumber(pair.p) ? (pair.p < 0.05 ? "The difference is unlikely to be chance alone." : "A difference this size may well be chance.") : "Not enough pairs for a test.";
  return section(`Paired test: ${pair.test ?? ""}`, h("p", { class: "big" }, isNumber(pair.p) ? `p = ${pair.p < 0.001 ? pair.p.toExponential(1) : pair.p.toFixed(3)}` : "not measured"), h("p", {}, said, pair.note ? ` ${visible(pair.note)}` : "", seen(pair.sensitivity)),
    table("Pairs of attempts", [["", (row) => row[0]], [`${name(pair.b)} passed`, (row) => row[1], "num"], [`${name(pair.b)} failed`, (row) => row[2], "num"]],
      [[`${name(pair.a)} passed`, count(pair.both), count(pair.only_a)], [`${name(pair.a)} failed`, count(pair.only_b), count(pair.neither)]]),
    h("p", {}, `${plural(pair.n, "pair")}${pair.left_out ? `, ${plural(pair.left_out, "attempt")} left out for want of a partner in the other report` : ""}. Difference: ${difference(pair.difference)}.`, isNumber(pair.p_holm) ? ` Corrected for several comparisons (Holm): p = ${pair.p_holm.toFixed(3)}.` : ""));
}

/** What a difference would have to be for these reports to show it. */
function seen(found) {
  return isNumber(found?.gain) ? ` With these numbers, a rise of less than ${(found.gain * 100).toFixed(0)} points would usually not be found.` : "";
}

function difference(value) {
  if (!isNumber(value?.value)) return "not measured";
  const points = (one) => `${one > 0 ? "+" : ""}${(one * 100).toFixed(1)}`;
  return isNumber(value.low) && isNumber(value.high) ? `${points(value.value)} points (${points(value.low)} to ${points(value.high)})` : `${points(value.value)} points`;
}
