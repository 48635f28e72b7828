// The evals: every report with its rate and interval; two ticked ones can be compared.

import { h } from "./dom.js";
import { rateBar } from "./draw.js";
import { button, command, empty, loading, mark } from "./parts.js";
import { format } from "./route.js";
import { count, interval, percent, stamp, visible } from "./text.js";

export class EvalsView {
  constructor(root, ctx) {
    Object.assign(this, { root, ctx, ticked: [] });
    loading(root, "the reports", async () => this.page((await ctx.api.get("/api/evals")).reports));
  }

  page(reports) {
    if (!reports.length) {
      return [h("h1", {}, "Evals"), empty("No reports yet", "An eval runs tasks several times and keeps a report. Start one in a terminal:", command("python -m agent_loop.evals --attempts 3 --label baseline"))];
    }
    this.said = h("p", { class: "said", role: "status" });
    this.compare = button("Compare the two", () => this.ctx.go({ page: "compare", reports: this.ticked }), { class: "main", id: "compare" });
    this.boxes = new Map();
    const list = h("ol", { class: "reports", "aria-label": "Reports" }, reports.map((report) => this.report(report)));
    this.say();
    return [h("h1", {}, "Evals"), h("p", { class: "actions" }, this.compare, this.said), list];
  }

  report(report) {
    const name = visible(report.label ?? report.name);
    if (report.problem) return h("li", { class: "report" }, h("h2", {}, visible(report.name)), h("p", { class: "note bad" }, visible(report.problem)));
    const box = h("input", { type: "checkbox", id: `tick-${report.name}`, on: { change: () => this.tick(report.name, box.checked) } });
    this.boxes.set(report.name, box);
    const models = Object.values(report.models ?? {});
    return h("li", { class: "report" },
      h("span", { class: "tick" }, box, h("label", { for: `tick-${report.name}`, class: "unseen" }, `Compare ${name} of ${stamp(report.created)}`)),
      h("div", {}, h("h2", {}, h("a", { href: format({ page: "eval", report: report.name }) }, h("bdi", {}, name)), report.finished ? null : mark("unfinished", "wait"), report.experiment ? mark("experiment", "plain") : null),
        h("p", { class: "said" }, `${stamp(report.created)} · ${count(report.done)} of ${count(report.planned)} attempts at ${count(report.tasks)} tasks · ${visible([...new Set(models)].join(", ")).slice(0, 120)}`)),
      h("div", { class: "rate" }, rateBar(rateWords(report.rate), report.rate), h("p", { class: "num" }, rateWords(report.rate)),
        report.environment ? h("p", { class: "said" }, `${count(report.environment)} not counted: the environment failed`) : null));
  }

  tick(name, on) {
    this.ticked = this.ticked.filter((one) => one !== name);
    if (on) this.ticked.push(name);
    // A third tick takes the oldest away: two are compared.
    while (this.ticked.length > 2) this.boxes.get(this.ticked.shift()).checked = false;
    this.say();
  }

  say() {
    this.compare.disabled = this.ticked.length !== 2;
    this.said.textContent = this.ticked.length === 2 ? "The one ticked first is the baseline." : "Tick two reports to compare them.";
  }

  close() {}
}

export function rateWords(rate) {
  if (rate?.value === null || rate?.value === undefined) return "not measured";
  return `${percent(rate.value)} (${interval(rate)})`;
}
