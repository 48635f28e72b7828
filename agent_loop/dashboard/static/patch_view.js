// The patch: one column or two, changed lines that the tests ran marked.

import { ofRun } from "./api.js";
import { flat, meaning, nameOf, shownLine, summed } from "./diff.js";
import { h, replace } from "./dom.js";
import { button, empty, failure } from "./parts.js";
import { count, plural, visible } from "./text.js";
import { Windowed } from "./windowed.js";

export class PatchView {
  constructor(root, run) {
    Object.assign(this, { root, run, two: innerWidth >= 1100 });
    this.load();
  }

  async load() {
    replace(this.root, h("p", { class: "wait-note" }, "Loading the patch …"));
    try {
      this.patch = await this.run.ctx.api.get(ofRun(this.run.thread, "/patch"), {}, this.run.abort.signal);
      this.frame();
    } catch (problem) {
      if (problem.name === "AbortError") return;
      replace(this.root, problem.status === 404 ? this.none() : failure(problem, () => this.load()));
    }
  }

  none() {
    return empty("No patch", "Only runs on a project leave one, when they have an answer. The answer of other runs stands under Result.");
  }

  frame() {
    const { files, problems } = this.patch;
    const sum = summed(files);
    const ran = this.patch.lines_ran === "recorded" ? `, ${count(sum.ran)} of them seen to run in the tests` : "";
    this.one = button("Unified", () => this.as(false), { "aria-pressed": String(!this.two) });
    this.both = button("Side by side", () => this.as(true), { "aria-pressed": String(this.two) });
    this.list = h("ol", { class: "patch", "aria-label": "Patch" });
    replace(this.root,
      h("div", { class: "filters" }, h("div", { class: "choices", role: "group", "aria-label": "Layout" }, this.one, this.both),
        h("p", { class: "said" }, `${plural(sum.files, "file")}: ${plural(sum.removed, "line")} deleted, ${count(sum.added)} added${ran}`)),
      this.note(), (problems ?? []).map((one) => h("p", { class: "note bad" }, visible(one))),
      files.length > 1 ? this.index(files) : null, this.list);
    this.window?.close();
    this.window = new Windowed(this.list, { key: (row) => row.id, render: rowOf, height: 21 });
    this.as(this.two);
  }

  note() {
    const said = this.patch.lines_ran === "recorded"
      ? "▸ marks added lines that the tests were seen to run. A missing mark proves nothing: comments, the rest of a long statement, and lines beside a changed function that run at import are not traced."
      : visible(this.patch.ran_note ?? "");
    return said ? h("p", { class: "said" }, said) : null;
  }

  index(files) {
    return h("details", { class: "index" }, h("summary", {}, "Files"), h("ul", {}, files.slice(0, 500).map((file) => h("li", {},
      button(visible(nameOf(file)), () => this.window.show(this.window.items.findIndex((row) => row.kind === "file" && row.file === file)), { class: "link" }),
      ` +${count(file.added)} −${count(file.removed)}`))));
  }

  as(two) {
    this.two = two;
    this.one.setAttribute("aria-pressed", String(!two));
    this.both.setAttribute("aria-pressed", String(two));
    this.list.classList.toggle("two", two);
    this.window.heights.clear();
    this.window.set(flat(this.patch.files, two));
  }

  keys() {
    return { turn: () => this.window && this.as(!this.two) };
  }

  close() {
    this.window?.close();
  }
}

function rowOf(row) {
  if (row.kind === "file") {
    const { file } = row;
    return h("h3", { class: "file" }, h("bdi", {}, visible(row.name)), h("small", {}, ` ${file.status ?? ""} +${count(file.added)} −${count(file.removed)}`));
  }
  if (row.kind === "hunk") return h("p", { class: "hunk" }, visible(shownLine(row.text)));
  if (row.kind === "note") return h("p", { class: "note" }, visible(row.text));
  if (row.kind === "pair") return h("div", { class: "pair" }, half(row.left, "old"), half(row.right, "new"));
  return lineOf(row.line, [row.line.old, row.line.new]);
}

function half(line, side) {
  return line ? lineOf(line, [line[side]]) : h("div", { class: "row none" });
}

function lineOf(line, numbers) {
  const kind = { "+": "add", "-": "del", " ": "same" }[line.kind] ?? "nofinal";
  const [sign, how] = line.kind === "+" && line.ran === true ? ["▸", "ran"] : ["", ""];
  const said = meaning(line);
  return h("div", { class: `row ${kind} ${how}` }, numbers.map((n) => h("span", { class: "no", "aria-hidden": "true" }, n ?? "")),
    h("span", { class: "sign", title: said || null }, h("span", { "aria-hidden": "true" }, `${sign}${line.kind === " " ? "" : line.kind}`), said ? h("span", { class: "unseen" }, said) : null),
    h("code", {}, visible(shownLine(line.text ?? ""))));
}
