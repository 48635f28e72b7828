// Begins the page: login, colours, keyboard, and the view that the address names.

import { Api } from "./api.js";
import { announce, find, h, replace } from "./dom.js";
import { CompareView } from "./compare_view.js";
import { EvalView } from "./eval_view.js";
import { EvalsView } from "./evals_view.js";
import { isTyping, meaning, SHORTCUTS } from "./keys.js";
import { button, failure } from "./parts.js";
import { format, parse, VIEWS } from "./route.js";
import { RunView } from "./run_view.js";
import { RunsView } from "./runs_view.js";

const THEMES = ["", "light", "dark"];
const WORDS = { live: "live", polling: "live, by asking", offline: "no connection", hidden: "", login: "not logged in" };

class App {
  constructor() {
    this.main = find("main");
    this.pending = "";
    this.ctx = { api: new Api(), go: (place) => this.go(place), connection: (word) => this.connection(word), jobs: null };
    this.theme(stored("theme") ?? "");
    find("theme").addEventListener("click", () => this.nextTheme());
    find("help").addEventListener("click", () => this.help());
    find("skip").addEventListener("click", (event) => {
      event.preventDefault();
      this.main.focus();
    });
    addEventListener("hashchange", () => this.show());
    addEventListener("keydown", (event) => this.key(event));
  }

  async begin() {
    try {
      const session = await this.ctx.api.begin();
      if (session.can_start) await this.withJobs();
    } catch (problem) {
      replace(this.main, failure(problem, () => this.begin()));
      return;
    }
    this.show();
  }

  async withJobs() {
    const { Jobs, StartView } = await import("./jobs.js");
    this.ctx.jobs = new Jobs(this.ctx);
    this.StartView = StartView;
  }

  go(place) {
    const hash = format(place);
    if (location.hash === hash || (hash === "#" && !location.hash)) this.show();
    else location.hash = hash;
  }

  show() {
    const place = parse(location.hash);
    this.pages(place);
    if (place.page === "run" && this.place?.page === "run" && this.place.run === place.run) {
      this.place = place;
      this.view.update(place);
      return;
    }
    this.view?.close();
    this.place = place;
    this.connection("");
    document.title = "agent-loop";
    replace(this.main);
    scrollTo(0, 0);
    this.view = this.made(place);
    if (this.begun) this.main.focus({ preventScroll: true });
    this.begun = true;
  }

  made(place) {
    if (place.page === "run") return new RunView(this.main, this.ctx, place);
    if (place.page === "compare") return new CompareView(this.main, this.ctx, place);
    if (place.page === "eval") return new EvalView(this.main, this.ctx, place);
    if (place.page === "evals") return new EvalsView(this.main, this.ctx);
    if (place.page === "start" && this.StartView) return new this.StartView(this.main, this.ctx);
    return new RunsView(this.main, this.ctx, place);
  }

  pages(place) {
    const runs = place.page === "runs" || place.page === "run";
    const evals = ["evals", "eval", "compare"].includes(place.page);
    const links = [["#", "Runs", runs], ["#evals", "Evals", evals]];
    if (this.StartView) links.push(["#start", "Start", place.page === "start"]);
    replace(find("pages"), links.map(([href, text, here]) => h("a", { href, "aria-current": here ? "page" : null }, text)));
  }

  connection(word) {
    const place = find("connection");
    place.textContent = WORDS[word] ?? "";
    place.className = word;
  }

  // --- keyboard ---

  key(event) {
    const modifier = event.ctrlKey || event.metaKey || event.altKey;
    const { act, pending } = meaning(event.key, { typing: isTyping(event.target), modifier, pending: this.pending });
    this.pending = pending;
    if (!act || (find("shortcuts").open && act !== "help")) return;
    if (this.act(act)) event.preventDefault();
  }

  act(act) {
    const keys = this.view?.keys?.() ?? {};
    if (act.startsWith("view")) return this.place?.page === "run" && this.act2(() => this.go({ ...this.place, seq: undefined, view: VIEWS[Number(act[4])] }));
    const acts = {
      help: () => this.help(), theme: () => this.nextTheme(), runs: () => this.go({ page: "runs" }), evals: () => this.go({ page: "evals" }),
      start: this.StartView && (() => this.go({ page: "start" })), up: () => this.up(), next: keys.list && (() => step(keys.list, 1)), previous: keys.list && (() => step(keys.list, -1)),
      search: keys.search && (() => keys.search.focus()), filter: keys.filter, sides: keys.turn, stepBack: keys.back, stepNext: keys.next, escape: () => document.activeElement?.blur(),
    };
    return this.act2(acts[act]);
  }

  act2(what) {
    if (!what) return false;
    what();
    return true;
  }

  up() {
    if (this.place?.page === "eval" || this.place?.page === "compare") this.go({ page: "evals" });
    else this.go({ page: "runs" });
  }

  help() {
    const box = find("shortcuts");
    if (box.open) {
      box.close();
      return;
    }
    replace(box, h("h2", { id: "shortcuts-title" }, "Keyboard shortcuts"),
      h("dl", { class: "keys" }, SHORTCUTS.map(([key, what]) => h("div", {}, h("dt", {}, key.split("  ").map((one, at) => [at ? " " : "", h("kbd", {}, one)])), h("dd", {}, what)))),
      button("Close", () => box.close(), { class: "main" }));
    box.showModal();
  }

  // --- colours ---

  theme(name) {
    this.colours = THEMES.includes(name) ? name : "";
    if (this.colours) document.documentElement.dataset.theme = this.colours;
    else delete document.documentElement.dataset.theme;
    find("theme").setAttribute("aria-label", `Colours: ${this.colours || "as the system has them"}`);
  }

  nextTheme() {
    this.theme(THEMES[(THEMES.indexOf(this.colours) + 1) % THEMES.length]);
    try {
      localStorage.setItem("theme", this.colours);
    } catch {
      // A browser that keeps nothing: the choice lasts as long as the page.
    }
    announce(find("theme").getAttribute("aria-label"));
  }
}

function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Put the focus on the row after (or before) the one that has it. */
function step(list, way) {
  const rows = list.items.map((item) => list.key(item));
  if (!rows.length) return;
  const held = [...list.drawn.values()].find((row) => row.element.contains(document.activeElement));
  const row = list.show(held ? held.at + way : way > 0 ? 0 : rows.length - 1);
  row?.element.querySelector("a, button")?.focus({ preventScroll: true });
}

new App().begin();
