// The timeline of a run: filters, search, and entries that open where they stand.

import { ofRun } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { entryBody, entryHead, freshen } from "./entry_view.js";
import { button, empty, failure, later } from "./parts.js";
import { chosen, FILTERS, numbersOf } from "./timeline.js";
import { count, plural } from "./text.js";
import { Windowed } from "./windowed.js";

export class TimelineView {
  constructor(root, run) {
    Object.assign(this, { root, run, filter: "all", query: "", hits: null, open: new Set(), bodies: new Map(), went: null });
    this.abort = new AbortController();
    this.frame();
    this.show();
  }

  frame() {
    this.buttons = FILTERS.map(([name, title]) => button(title, () => this.choose(name), { "aria-pressed": String(name === this.filter), "data-filter": name }));
    this.search = h("input", { type: "search", id: "search", placeholder: "Search in prompts, replies and results", autocomplete: "off", "aria-keyshortcuts": "/",
      on: { input: later(() => this.look(this.search.value), 250) } });
    this.said = h("p", { class: "said", role: "status" });
    this.place = h("div", {});
    this.list = h("ol", { class: "timeline", "aria-label": "What happened" });
    replace(this.root,
      h("form", { class: "filters", role: "search", on: { submit: (event) => event.preventDefault() } },
        h("label", { for: "search" }, "Search"), this.search,
        h("div", { class: "choices", role: "group", "aria-label": "Show" }, this.buttons)),
      this.said, this.place, this.list);
    this.window = new Windowed(this.list, { key: (entry) => entry.id, render: (entry) => this.entry(entry), height: 54 });
  }

  changed(changed, grown, problem) {
    if (problem) replace(this.place, failure(problem, () => this.run.loadEvents(this.run.skipped)));
    if (grown) this.plan();
    this.window.refresh(changed.map((entry) => entry.id));
  }

  /** At most once a frame, however fast events come. */
  plan() {
    cancelAnimationFrame(this.planned);
    this.planned = requestAnimationFrame(() => this.show());
  }

  show() {
    const all = this.run.timeline.entries;
    this.shown = chosen(all, this.filter, this.query, this.hits);
    const atEnd = scrollY + innerHeight > document.documentElement.scrollHeight - 40;
    const grew = this.shown.length > this.window.items.length;
    this.window.set(this.shown);
    this.say(all);
    if (grew && atEnd && this.run.loaded && this.run.run.row.status === "running") this.window.show(this.shown.length - 1);
    this.goTo(this.run.place);
  }

  say(all) {
    const total = this.run.run.trace?.events ?? all.length;
    const part = this.query || this.filter !== "all" ? `${plural(this.shown.length, "entry", "entries")} of ${count(all.length)}` : `${plural(this.shown.length, "entry", "entries")} from ${plural(total, "event")}`;
    const state = this.run.loaded ? "" : " · loading …";
    const searching = this.searching ? " · searching the whole trace …" : "";
    this.said.textContent = `${part}${state}${searching}`;
    const more = [];
    if (this.run.skipped) {
      more.push(h("p", { class: "note" }, `The trace is long: events 1 to ${count(this.run.skipped)} are not loaded. `, button("Show from the beginning", () => this.run.loadEvents(0))));
    }
    if (!this.shown.length && this.run.loaded) more.push(this.nothing(all));
    replace(this.place, more);
  }

  nothing(all) {
    if (all.length) return empty("Nothing here", "No entry fits this filter and this search.", button("Show everything", () => this.clear()));
    return empty("No events yet", "The run has written nothing so far. This page shows each event as it is written.");
  }

  clear() {
    this.search.value = "";
    this.query = "";
    this.hits = null;
    this.choose("all");
  }

  choose(name) {
    this.filter = name;
    for (const one of this.buttons) one.setAttribute("aria-pressed", String(one.dataset.filter === name));
    this.show();
    announce(this.said.textContent);
  }

  /** The next filter, for the keyboard. */
  turn() {
    const names = FILTERS.map(([name]) => name);
    this.choose(names[(names.indexOf(this.filter) + 1) % names.length]);
  }

  /** Search what the page has at once, and the whole trace (full texts too) at the server. */
  async look(text) {
    this.query = text;
    this.hits = null;
    this.abort.abort();
    this.abort = new AbortController();
    this.searching = text.trim().length > 1;
    this.show();
    if (!this.searching) return;
    try {
      this.hits = new Set();
      const { signal } = this.abort;
      for (let after = 0, done = false; !done; ) {
        const got = await this.run.ctx.api.get(ofRun(this.run.thread, "/events"), { q: text.trim(), after, limit: 1000, chars: 20 }, signal);
        for (const event of got.events) this.hits.add(event.seq);
        done = got.done || !(got.next > after);
        after = got.next;
        this.show();
      }
    } catch (problem) {
      if (problem.name === "AbortError") return;
      announce(problem.message);
    }
    this.searching = false;
    this.show();
    announce(this.said.textContent);
  }

  entry(entry) {
    const open = this.open.has(entry.id);
    const head = entryHead(entry, open, () => this.toggle(entry), this.run);
    if (!open) return h("article", { class: `entry ${entry.type}` }, head);
    return h("article", { class: `entry ${entry.type} open` }, head, this.body(entry));
  }

  /** The inside of an open entry. The last thirty are kept, so that scrolling does not fetch again. */
  body(entry) {
    const key = `${entry.id}:${entry.replied?.seq ?? ""}`;
    const known = this.bodies.get(key);
    if (known) {
      freshen(known, entry);
      return known;
    }
    const made = entryBody(entry, this.run, this.query);
    this.bodies.set(key, made);
    if (this.bodies.size > 30) this.bodies.delete(this.bodies.keys().next().value);
    return made;
  }

  toggle(entry) {
    if (!this.open.delete(entry.id)) this.open.add(entry.id);
    this.window.refresh([entry.id]);
  }

  /** Open the entry of a deep link, once it has been loaded. */
  goTo(place) {
    if (!place.seq || this.went === place.seq) return;
    const at = this.shown.findIndex((entry) => numbersOf(entry).includes(place.seq));
    if (at < 0) return;
    this.went = place.seq;
    this.open.add(this.shown[at].id);
    this.window.refresh([this.shown[at].id]);
    const row = this.window.show(at);
    row?.element.querySelector("button")?.focus({ preventScroll: true });
  }

  keys() {
    return { list: this.window, search: this.search, filter: () => this.turn() };
  }

  close() {
    this.abort.abort();
    cancelAnimationFrame(this.planned);
    this.window.close();
  }
}
