// The list of runs: search, filters, and what changes while one looks.

import { h, replace, announce } from "./dom.js";
import { Live } from "./live.js";
import { badge, button, command, empty, failure, later, mark } from "./parts.js";
import { format } from "./route.js";
import { KINDS, listQuery, STATUSES, withoutRow, withRow, words } from "./runlist.js";
import { count, plural, seconds, stamp, visible } from "./text.js";
import { Windowed } from "./windowed.js";

const PAGE = 500;

export class RunsView {
  constructor(root, ctx, place) {
    Object.assign(this, { root, ctx, wanted: place, rows: [], matched: 0, cursor: "", loadingMore: false });
    this.abort = new AbortController();
    this.frame();
    this.load().then(() => this.follow());
  }

  frame() {
    this.search = h("input", {
      type: "search", id: "search", placeholder: "Thread, task or outcome", value: this.wanted.q ?? "", autocomplete: "off",
      "aria-keyshortcuts": "/", on: { input: later(() => this.want({ q: this.search.value })) },
    });
    this.status = choice("status", "Any status", STATUSES, this.wanted.status, (status) => this.want({ status }));
    this.kind = choice("kind", "Any kind", KINDS, this.wanted.kind, (kind) => this.want({ kind }));
    this.evals = h("input", { type: "checkbox", id: "evalruns", checked: this.wanted.evalruns, on: { change: () => this.want({ evalruns: this.evals.checked }) } });
    this.said = h("p", { class: "said", role: "status" });
    this.names = this.heads();
    this.list = h("ol", { class: "runs", "aria-label": "Runs" });
    this.place = h("div", {});
    replace(this.root,
      h("h1", {}, "Runs"),
      h("form", { class: "filters", role: "search", on: { submit: (event) => event.preventDefault() } },
        h("label", { for: "search" }, "Search"), this.search,
        h("label", { for: "status", class: "unseen" }, "Status"), this.status,
        h("label", { for: "kind", class: "unseen" }, "Kind"), this.kind,
        h("span", { class: "tick" }, this.evals, h("label", { for: "evalruns" }, "Eval attempts too"))),
      this.said, this.names, this.place, this.list);
    this.window = new Windowed(this.list, { key: (row) => row.thread, render: (row) => rowOf(row), height: 62, end: () => this.more() });
  }

  heads() {
    const names = ["Task and thread", "Status", "Laps", "Tokens in / out", "Time", "Started (UTC)"];
    return h("div", { class: "run-row heads", "aria-hidden": "true" }, names.map((name) => h("span", {}, name)));
  }

  want(change) {
    this.wanted = { ...this.wanted, ...change, page: "runs" };
    history.replaceState(null, "", format(this.wanted));
    scrollTo(0, 0);
    this.load();
  }

  async load() {
    this.abort.abort();
    this.abort = new AbortController();
    try {
      const got = await this.ask(0, this.abort.signal);
      this.cursor = String(got.cursor ?? "");
      this.take(got, got.runs);
    } catch (problem) {
      if (problem.name !== "AbortError") this.failed(problem);
    }
  }

  ask(offset, signal) {
    return this.ctx.api.get("/api/runs", listQuery(this.wanted, offset, PAGE), signal);
  }

  take(got, rows) {
    this.rows = rows;
    this.matched = got.matched;
    this.total = got.total;
    this.show();
  }

  async more() {
    if (this.loadingMore || this.rows.length >= this.matched) return;
    this.loadingMore = true;
    try {
      const got = await this.ask(this.rows.length, this.abort.signal);
      const known = new Set(this.rows.map((row) => row.thread));
      this.take(got, [...this.rows, ...got.runs.filter((row) => !known.has(row.thread))]);
    } catch (problem) {
      if (problem.name !== "AbortError") this.said.textContent = problem.message;
    } finally {
      this.loadingMore = false;
    }
  }

  show() {
    this.window.set(this.rows);
    const all = this.total === this.matched ? "" : ` of ${count(this.total)}`;
    this.said.textContent = all ? `${count(this.matched)}${all} runs` : plural(this.matched, "run");
    this.list.hidden = this.rows.length === 0;
    this.names.hidden = this.rows.length === 0;
    replace(this.place, this.rows.length ? null : this.nothing());
  }

  nothing() {
    if (this.total) {
      const clear = button("Show all runs", () => this.ctx.go({ page: "runs" }));
      return empty("No run fits", "Nothing matches this search and these filters. Eval attempts are hidden unless you tick the box.", clear);
    }
    return empty("No runs yet", "A run appears here as soon as it begins. Start one in a terminal:",
      command("python loop.py tasks/is_even.yaml"), `This page looks at ${this.ctx.api.session.runs_dir ?? "runs/"}.`);
  }

  failed(problem) {
    this.list.hidden = true;
    this.said.textContent = "";
    replace(this.place, failure(problem, () => this.load()));
  }

  follow() {
    if (this.closed) return;
    this.live = new Live({
      address: () => `/api/runs/stream?after=${encodeURIComponent(this.cursor)}`,
      state: (word) => this.ctx.connection(word),
      poll: () => this.load(),
      on: {
        row: (row, id) => this.changed(row, id),
        gone: ({ thread }, id) => this.changed({ thread, gone: true }, id),
        reset: () => this.load(),
      },
    });
  }

  changed(row, id) {
    if (id) this.cursor = id;
    const before = this.rows.length;
    const old = this.rows.find((one) => one.thread === row.thread);
    this.rows = row.gone ? withoutRow(this.rows, row.thread) : withRow(this.rows, row, this.wanted);
    const came = this.rows.length - before;
    this.matched += came;
    this.total = Math.max(this.total + (row.gone ? -1 : came > 0 ? came : 0), this.matched);
    if (!row.gone && old && old.status !== row.status) announce(`${row.task}: ${words(row.status)}`);
    this.show();
  }

  keys() {
    return { list: this.window, search: this.search };
  }

  close() {
    this.closed = true;
    this.abort.abort();
    this.live?.stop();
    this.window.close();
  }
}

function choice(id, any, values, now, act) {
  const options = [h("option", { value: "" }, any), ...values.map((one) => h("option", { value: one }, words(one)))];
  const box = h("select", { id, on: { change: () => act(box.value) } }, options);
  box.value = values.includes(now) ? now : "";
  return box;
}

function rowOf(row) {
  const live = row.live ? `${row.live.node ?? "starting"}${row.live.lap ? `, lap ${row.live.lap}` : ""}` : "";
  return h("a", { class: "run-row", href: format({ page: "run", run: row.thread }) },
    h("span", { class: "who" },
      h("strong", {}, h("bdi", {}, visible(row.task || "(no name)"))),
      h("small", {}, h("bdi", {}, visible(row.thread)), row.kind ? ` · ${row.kind}` : "", row.eval ? " · eval" : "")),
    h("span", { class: "marks" }, badge(row.status), row.look ? mark("look", "wait") : null, live ? h("small", {}, live) : null),
    h("span", { class: "num", "data-name": "laps" }, count(row.laps)),
    h("span", { class: "num", "data-name": "tokens" }, `${count(row.input_tokens)} / ${count(row.output_tokens)}`),
    h("span", { class: "num", "data-name": "" }, seconds(row.seconds)),
    h("span", { class: "num", "data-name": "" }, stamp(row.started)));
}

