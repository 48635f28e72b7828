// Only on the page of the job server: starting runs and cancelling them.

import { announce, h, replace } from "./dom.js";
import { Live } from "./live.js";
import { badge, button, empty, failure, loading, mark, section } from "./parts.js";
import { format } from "./route.js";
import { count, stamp, visible } from "./text.js";

const OVER = new Set(["ended", "cancelled", "failed"]);

/** What the page asks of this module: the jobs, a Cancel button for a run, and the page Start. */
export class Jobs {
  constructor(ctx) {
    this.ctx = ctx;
    this.jobs = new Map();
    this.heard = () => {};
    this.load().catch((problem) => announce(problem.message));
    this.live = new Live({ address: () => "/api/jobs/stream", poll: () => this.load(), on: { job: (job) => this.take(job) } });
  }

  async load() {
    const got = await this.ctx.api.get("/api/jobs");
    this.queue = got.queue;
    for (const job of got.jobs) this.take(job);
  }

  take(job) {
    // The answer to a request may come after the stream has told of what happened since.
    if (!job.id || job.number < this.jobs.get(job.id)?.number) return;
    this.jobs.set(job.id, job);
    this.heard(job);
  }

  of(thread) {
    return [...this.jobs.values()].find((job) => job.thread === thread && !OVER.has(job.status));
  }

  cancelButton(thread, status) {
    const job = this.of(thread);
    if (job) return this.cancel(job);
    if (status === "interrupted" || status === "cancelled" || status === "error") return button("Go on with this run", () => this.resume(thread));
    return null;
  }

  cancel(job) {
    const one = button(job.cancelling ? "Cancelling …" : "Cancel", async () => {
      one.disabled = true;
      one.textContent = "Cancelling …";
      try {
        this.take(await this.ctx.api.post(`/api/jobs/${encodeURIComponent(job.id)}/cancel`, {}));
        announce("The job is being cancelled. The run can be continued later.");
      } catch (problem) {
        one.disabled = false;
        one.textContent = "Cancel";
        announce(problem.message);
      }
    }, { class: "bad", disabled: job.cancelling });
    return one;
  }

  async resume(thread) {
    try {
      await this.start({ resume: thread });
    } catch (problem) {
      announce(problem.message);
    }
  }

  async start(body) {
    const job = await this.ctx.api.post("/api/jobs", body);
    this.take(job);
    announce(`${job.task ?? "The job"} waits for its turn.`);
    return job;
  }
}

export class StartView {
  constructor(root, ctx) {
    Object.assign(this, { root, ctx });
    loading(root, "what can be started", async () => this.page(await ctx.api.get("/api/jobs/options")));
    ctx.jobs.heard = () => this.list();
  }

  page(options) {
    this.said = h("p", { class: "said", role: "status" });
    this.place = h("div", {});
    this.list();
    return [h("h1", {}, "Start"), this.said, section("Jobs", this.place), this.tasks(options), options.projects?.length ? this.projects(options) : null, this.limits(options)];
  }

  list() {
    if (!this.place) return;
    const jobs = [...this.ctx.jobs.jobs.values()].sort((a, b) => (a.created < b.created ? 1 : -1)).slice(0, 200);
    replace(this.place, jobs.length ? h("ul", { class: "jobs", "aria-label": "Jobs" }, jobs.map((job) => this.job(job))) : empty("No jobs yet", "Start a task below. It runs as soon as a place in the queue is free."));
  }

  job(job) {
    const name = h("bdi", {}, visible(job.task ?? job.id));
    return h("li", {}, job.thread && job.started ? h("a", { href: format({ page: "run", run: job.thread }) }, name) : name, " ", job.outcome ? badge(job.outcome) : mark(job.status, OVER.has(job.status) ? "plain" : "live"),
      h("small", {}, ` ${stamp(job.created)} ${visible(job.reason ?? "").slice(0, 200)} `), OVER.has(job.status) ? null : this.ctx.jobs.cancel(job));
  }

  tasks(options) {
    const tasks = options.tasks ?? [];
    if (!tasks.length) return section("Tasks", empty("No tasks", "The server was started without a folder of tasks, or the folder is empty."));
    return section("Tasks", h("ul", { class: "jobs", "aria-label": "Tasks" }, tasks.map((task) => h("li", {}, h("strong", {}, h("bdi", {}, visible(task.name ?? task.path))), h("small", {}, ` ${task.kind ?? ""} · ${visible(task.path)} `),
      task.problem ? h("span", { class: "note bad" }, visible(task.problem)) : button("Start", () => this.go({ root: task.root, task: task.path }), { class: "main", "aria-label": `Start ${visible(task.name ?? task.path)}` })))));
  }

  projects(options) {
    const box = h("select", { id: "project" }, options.projects.map((one, at) => h("option", { value: String(at) }, visible(one.path))));
    const text = h("textarea", { id: "instruction", rows: "3", required: true });
    const test = h("input", { id: "test-command", type: "text", autocomplete: "off" });
    const submit = (event) => {
      event.preventDefault();
      const one = options.projects[Number(box.value)];
      this.go({ root: one.root, project: one.path, instruction: text.value, ...(test.value ? { test_command: test.value } : {}) });
    };
    return section("A project", h("form", { class: "answer", on: { submit } }, h("label", { for: "project" }, "Project"), box, h("label", { for: "instruction" }, "What shall be done"), text,
      h("label", { for: "test-command" }, "Test command (empty: pytest)"), test, h("p", {}, h("button", { type: "submit", class: "main" }, "Start"))));
  }

  limits(options) {
    this.tokens = h("input", { id: "budget", type: "number", min: "1", placeholder: String(options.limits?.budget_tokens ?? "none") });
    this.time = h("input", { id: "time-limit", type: "number", min: "1", placeholder: String(options.limits?.time_limit_s ?? "none") });
    return section("Limits for the next start", h("div", { class: "answer" }, h("label", { for: "budget" }, "Tokens"), this.tokens, h("label", { for: "time-limit" }, "Seconds"), this.time,
      options.queue ? h("p", { class: "said" }, `${count(options.queue.running)} running of ${count(options.queue.slots)}, ${count(options.queue.waiting)} waiting, room for ${count(options.queue.room)} more`) : null));
  }

  async go(body) {
    const limits = { ...(this.tokens.value ? { budget_tokens: Number(this.tokens.value) } : {}), ...(this.time.value ? { time_limit_s: Number(this.time.value) } : {}) };
    this.said.textContent = "Starting …";
    try {
      await this.ctx.jobs.start({ ...body, ...limits });
      this.said.textContent = "Started: it stands under Jobs.";
    } catch (problem) {
      replace(this.said, failure(problem));
    }
  }

  close() {
    this.ctx.jobs.heard = () => {};
  }
}
