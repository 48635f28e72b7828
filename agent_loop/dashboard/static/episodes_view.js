// Episodes step by step: what the model called, what came back, how long it took.

import { ofRun } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { boxes, step } from "./entry_view.js";
import { button, empty, failure } from "./parts.js";
import { stepName } from "./timeline.js";
import { count, oneLine, plural, seconds, visible } from "./text.js";
import { Windowed } from "./windowed.js";

export class EpisodesView {
  constructor(root, run) {
    Object.assign(this, { root, run, at: -1 });
    this.changed([], true);
  }

  changed(_changed, grown) {
    if (!grown) return;
    const was = this.steps?.length ?? -1;
    this.steps = this.run.timeline.entries.filter((entry) => entry.type === "step" || entry.type === "episode");
    if (this.steps.length === was && !(this.run.loaded && !this.steps.length)) return;
    if (!this.steps.length) replace(this.root, this.none());
    else if (!this.list) this.frame();
    else this.window.set(this.steps);
    if (this.steps.length && this.at < 0) this.show(0, false);
    if (this.steps.length) this.say();
  }

  none() {
    if (!this.run.loaded) return h("p", { class: "wait-note" }, "Loading …");
    return empty("No episodes", "This run asked for whole replies. A run with worker_mode: tools works in steps, and each step is shown here.");
  }

  frame() {
    this.said = h("p", { class: "said", role: "status" });
    this.detail = h("section", { class: "step-detail", "aria-label": "Step", tabindex: "-1" });
    this.list = h("ol", { class: "steps", "aria-label": "Steps" });
    this.back = button("Previous step", () => this.show(this.at - 1), { "aria-keyshortcuts": "[" });
    this.next = button("Next step", () => this.show(this.at + 1), { "aria-keyshortcuts": "]" });
    replace(this.root, h("p", { class: "actions" }, this.back, this.next), this.said, this.detail, h("h2", {}, "All steps"), this.list);
    this.window = new Windowed(this.list, { key: (entry) => entry.id, render: (entry) => this.row(entry), height: 36 });
    this.window.set(this.steps);
  }

  say() {
    this.said.textContent = `Step ${count(this.at + 1)} of ${plural(this.steps.length, "step")}`;
    this.back.disabled = this.at <= 0;
    this.next.disabled = this.at >= this.steps.length - 1;
  }

  row(entry) {
    const at = this.steps.indexOf(entry);
    const name = entry.type === "episode" ? `${entry.title}: ${entry.more}` : oneLine(stepName(entry.event), 80);
    return button([h("span", { class: "no" }, entry.type === "step" ? entry.event.step ?? "?" : "»"), h("span", { class: "what" }, visible(name)), h("span", { class: "num" }, seconds(entry.event.seconds))],
      () => this.show(at), { class: `step ${entry.bad ? "bad" : ""}`, "aria-current": at === this.at ? "step" : null });
  }

  async show(at, say = true) {
    const entry = this.steps[at];
    if (!entry) return;
    const before = this.steps[this.at];
    this.at = at;
    this.say();
    this.window.refresh([before?.id, entry.id].filter((id) => id !== undefined));
    try {
      const event = await this.run.ctx.api.get(ofRun(this.run.thread, `/events/${entry.id}`), { chars: 20_000 }, this.run.abort.signal);
      if (this.steps[this.at] === entry) replace(this.detail, this.inside(entry, event));
    } catch (problem) {
      if (problem.name !== "AbortError") replace(this.detail, failure(problem, () => this.show(at)));
    }
    if (say) announce(this.said.textContent);
  }

  inside(entry, event) {
    const box = boxes(this.run);
    const title = h("h2", {}, visible(entry.title));
    return entry.type === "episode" ? [title, box(event, event.kind === "episode_summary" ? "/text" : "", "Event", true)] : [title, step(event, box)];
  }

  keys() {
    return { list: this.window, back: () => this.show(this.at - 1), next: () => this.show(this.at + 1) };
  }

  close() {
    this.window?.close();
  }
}
