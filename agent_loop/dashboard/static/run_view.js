// One run: its head, the owner's panel, and one of five views below. Holds the stream of events.

import { ChartsView } from "./charts_view.js";
import { announce, h, replace } from "./dom.js";
import { ofRun } from "./api.js";
import { EpisodesView } from "./episodes_view.js";
import { Live } from "./live.js";
import { OwnerPanel } from "./owner_view.js";
import { badge, facts, failure, mark } from "./parts.js";
import { PatchView } from "./patch_view.js";
import { ResultView } from "./result_view.js";
import { format, VIEWS } from "./route.js";
import { words } from "./runlist.js";
import { count, seconds, stamp, visible } from "./text.js";
import { Timeline } from "./timeline.js";
import { TimelineView } from "./timeline_view.js";

const KINDS = { timeline: TimelineView, charts: ChartsView, patch: PatchView, episodes: EpisodesView, result: ResultView };
const GOES_ON = new Set(["interrupted", "cancelled", "error", "budget"]);
const PAGE = 500;
/** Events the page keeps; of a longer trace the newest, unless its beginning is asked for. */
export const MOST_EVENTS = 20_000;
const CHARS = 300;

export class RunView {
  constructor(root, ctx, place) {
    Object.assign(this, { root, ctx, place, thread: place.run, timeline: new Timeline(), at: 0, listeners: new Set() });
    this.abort = new AbortController();
    this.begin();
  }

  async begin() {
    if (!this.root.firstChild) replace(this.root, h("p", { class: "wait-note" }, "Loading the run …"));
    try {
      this.run = await this.ctx.api.get(ofRun(this.thread), {}, this.abort.signal);
    } catch (problem) {
      if (problem.name !== "AbortError") this.missing(problem);
      return;
    }
    this.frame();
    if (this.ctx.jobs) this.ctx.jobs.heard = (job) => job.thread === this.thread && this.showHead();
    this.update(this.place);
    await this.loadEvents(this.firstSeq());
    this.follow();
  }

  missing(problem) {
    if (problem.status !== 404) replace(this.root, failure(problem, () => this.begin()));
    else if (this.ctx.jobs?.of(this.thread)) {
      replace(this.root, h("p", { class: "wait-note" }, "The run has not begun yet: its job waits, or its project is being made ready …"));
      setTimeout(() => this.closed || this.begin(), 1000);
    } else {
      replace(this.root, h("section", { class: "empty bad", role: "alert" }, h("h2", {}, "Not found"),
        h("p", {}, "There is no such run: it was removed, has another name, or never began."), h("a", { href: "#" }, "Show all runs")));
    }
  }

  firstSeq() {
    const total = this.run.trace?.events ?? 0;
    const from = this.place.seq ? Math.max(0, this.place.seq - 1 - PAGE) : total;
    return total > MOST_EVENTS ? Math.max(0, Math.min(from, total - MOST_EVENTS)) : 0;
  }

  frame() {
    this.head = h("div", { class: "run-head" });
    this.owner = new OwnerPanel(this);
    this.tabs = h("nav", { class: "tabs", "aria-label": "Views of this run" });
    this.body = h("div", { class: "view" });
    replace(this.root, this.head, this.owner.element, this.tabs, this.body);
    this.showHead();
  }

  /** Another view of the same run, or another place in it. */
  update(place) {
    this.place = place;
    if (!this.run) return;
    if (this.shown?.name !== place.view) {
      this.view?.close();
      replace(this.body);
      this.shown = { name: place.view };
      this.view = new KINDS[place.view](this.body, this);
      this.showTabs();
    }
    this.view.goTo?.(place);
  }

  showHead() {
    const { record } = this.run;
    // A record is written at the beginning and at the end: meanwhile the events tell.
    const row = this.run.row.live ? { ...this.run.row, ...this.timeline.sums() } : this.run.row;
    const live = row.live ? `${row.live.node ?? "starting"}${row.live.lap ? `, lap ${row.live.lap}` : ""}` : null;
    document.title = `${visible(row.task || row.thread)} · ${words(row.status)} · agent-loop`;
    replace(this.head,
      h("h1", {}, h("bdi", {}, visible(row.task || "(no name)")), " ", badge(row.status), row.look ? mark("look before you trust it", "wait") : null),
      h("p", { class: "thread" }, h("bdi", {}, visible(row.thread)), live ? h("span", { class: "now" }, ` · now: ${live}`) : null),
      record?.reason && record.outcome && record.outcome !== "paused" ? h("p", { class: "reason" }, visible(record.reason)) : null,
      facts([
        ["Kind", row.kind], ["Laps", count(row.laps)], ["Tokens in", count(row.input_tokens)], ["Tokens out", count(row.output_tokens)],
        ["Time", seconds(row.seconds)], ["Started (UTC)", stamp(row.started)], ["Ended", row.ended ? stamp(row.ended) : null],
        ["Driven by", row.live?.driver ? visible(row.live.driver) : null],
      ]),
      h("p", { class: "actions" },
        h("a", { href: ofRun(this.thread, "/export.md"), download: "" }, "Export as Markdown"),
        h("a", { href: ofRun(this.thread, "/export.html"), download: "" }, "Export as one HTML file"),
        (this.run.files ?? []).map(({ name }) => h("a", { href: ofRun(this.thread, `/files/${encodeURIComponent(name)}`), download: "" }, visible(name))),
        this.ctx.jobs?.cancelButton(this.thread, row.status) ?? null),
      GOES_ON.has(row.status) && !this.ctx.jobs ? h("p", { class: "note" }, "This run can go on: ", h("code", {}, `python loop.py --continue ${row.thread}`)) : null,
      this.run.record_problem ? h("p", { class: "note bad" }, visible(this.run.record_problem)) : null);
  }

  showTabs() {
    const names = { timeline: "Timeline", charts: "Charts", patch: "Patch", episodes: "Episodes", result: "Result" };
    replace(this.tabs, VIEWS.map((view, at) => h("a", {
      href: format({ page: "run", run: this.thread, view }), "aria-current": view === this.place.view ? "page" : null, "aria-keyshortcuts": String(at + 1),
    }, names[view])));
    const here = this.tabs.querySelector("[aria-current]");
    this.tabs.scrollLeft += here.getBoundingClientRect().left - this.tabs.getBoundingClientRect().left - 40;
  }

  /** Pages of events, from the first that the page keeps; each is shown as it comes. */
  async loadEvents(after) {
    this.timeline = new Timeline();
    this.skipped = after;
    this.at = after;
    this.loaded = false;
    try {
      for (let more = true; more; ) more = await this.page();
      this.loaded = true;
      this.showHead();
      this.tell([], true);
    } catch (problem) {
      if (problem.name !== "AbortError") this.tell([], true, problem);
    }
  }

  async page() {
    const query = { after: this.at, limit: PAGE, chars: CHARS };
    const got = await this.ctx.api.get(ofRun(this.thread, "/events"), query, this.abort.signal);
    this.generation = got.generation;
    const changed = this.timeline.addAll(got.events ?? []);
    const before = this.at;
    this.at = Math.max(this.at, this.timeline.last, got.next ?? 0);
    this.tell(changed, true);
    return !got.done && this.at > before && this.timeline.entries.length < MOST_EVENTS + PAGE;
  }

  follow() {
    if (this.closed) return;
    this.live = new Live({
      address: () => `${ofRun(this.thread, "/stream")}?after=${this.at}&chars=${CHARS}`,
      state: (word) => this.ctx.connection(word),
      poll: () => this.poll(),
      talks: true,
      on: {
        event: (event) => this.take(event),
        text: (piece) => this.tell(this.timeline.add({ kind: "model_text", ...piece }), false),
        state: (state) => this.state(state),
        reset: () => this.restart(),
      },
    });
  }

  take(event) {
    const changed = this.timeline.add(event);
    this.at = Math.max(this.at, this.timeline.last);
    this.skipped = Math.max(this.skipped, this.timeline.forget(MOST_EVENTS));
    this.tell(changed, changed.length > 0);
    if (event.kind === "model_replied" || event.kind === "verdict") this.showHead();
    if (event.kind === "run_ended") this.reload();
  }

  async restart() {
    this.live?.stop();
    await this.loadEvents(0);
    this.follow();
  }

  async poll() {
    const before = this.at;
    while (await this.page());
    await this.reload();
    if (this.at > before) this.tell([], true);
  }

  state({ row, pause, trace }) {
    const was = this.run.row.status;
    Object.assign(this.run, { row: row ?? this.run.row, pause: pause ?? null, trace: trace ?? this.run.trace });
    this.showHead();
    this.owner.show(this.run.pause);
    if (was !== this.run.row.status) {
      announce(`The run is ${words(this.run.row.status)}`);
      this.reload();
    }
  }

  async reload() {
    try {
      this.run = await this.ctx.api.get(ofRun(this.thread), {}, this.abort.signal);
    } catch (problem) {
      if (problem.name !== "AbortError") announce(problem.message);
      return;
    }
    if (this.closed) return;
    this.showHead();
    this.owner.show(this.run.pause);
    this.view?.record?.(this.run);
  }

  /** Tell the view: entries that changed, whether there are more or fewer, what went wrong. */
  tell(changed, grown, problem = null) {
    this.view?.changed?.(changed, grown, problem);
  }

  keys() {
    return this.view?.keys?.() ?? {};
  }

  close() {
    this.closed = true;
    this.abort.abort();
    this.live?.stop();
    this.view?.close();
    this.owner?.close();
    if (this.ctx.jobs) this.ctx.jobs.heard = () => {};
  }
}
