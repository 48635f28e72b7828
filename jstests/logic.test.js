// The page's logic, without a browser: node jstests/logic.test.js

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import { address, ofRun } from "../agent_loop/dashboard/static/api.js";
import { freshTokens, reuse, segments, sharedPrefix, stacked, strip, trend } from "../agent_loop/dashboard/static/charts.js";
import { flat, meaning as meaningOfLine, nameOf, shownLine, summed } from "../agent_loop/dashboard/static/diff.js";
import { safeLink } from "../agent_loop/dashboard/static/dom.js";
import { Jobs } from "../agent_loop/dashboard/static/jobs.js";
import { meaning, SHORTCUTS } from "../agent_loop/dashboard/static/keys.js";
import { format, parse } from "../agent_loop/dashboard/static/route.js";
import { listQuery, matches, STATUSES, TONES, withoutRow, withRow } from "../agent_loop/dashboard/static/runlist.js";
import * as text from "../agent_loop/dashboard/static/text.js";
import { at } from "../agent_loop/dashboard/static/textbox.js";
import { chosen, stepName, textOf, Timeline } from "../agent_loop/dashboard/static/timeline.js";

const STATIC = new URL("../agent_loop/dashboard/static/", import.meta.url);
const call = (seq, more = {}) => ({ seq, kind: "model_asked", node: "worker", role: "worker", lap: 1, model: "scripted:w", messages: [], at: "2026-01-01T00:00:01Z", ...more });
const replied = (seq, more = {}) => ({ seq, kind: "model_replied", node: "worker", role: "worker", lap: 1, text: "done", usage: { input_tokens: 10, output_tokens: 2, seconds: 1 }, finish: "stop", at: "2026-01-01T00:00:02Z", ...more });

test("nothing hides in a text", () => {
  assert.equal(text.visible("a\u001b[31mb"), "a␛[31mb");
  assert.equal(text.visible("x\u202ey"), "x⟦U+202E⟧y");
  assert.equal(text.visible("\u200b\u2066\u0000\ufeff"), "⟦U+200B⟧⟦U+2066⟧⟦U+0000⟧⟦U+FEFF⟧");
  assert.equal(text.visible("a\u{e0041}b"), "a⟦U+E0041⟧b");
  assert.equal(text.visible("tab\tline\nשלום 漢字 😀"), "tab\tline\nשלום 漢字 😀");
});

test("numbers that are not known are a dash, not zero", () => {
  for (const unknown of [null, undefined, NaN, "3"]) {
    assert.equal(text.count(unknown), "–");
    assert.equal(text.seconds(unknown), "–");
    assert.equal(text.percent(unknown), "–");
    assert.equal(text.bytes(unknown), "–");
  }
  assert.equal(text.count(0), "0");
  assert.equal(text.interval({ low: null, high: 1 }), "not measured");
  assert.equal(text.interval({ low: 0.25, high: 0.5 }), "25–50 %");
});

test("times, sizes and counts", () => {
  assert.deepEqual([0, 0.012, 0.5, 12, 185, 7620].map(text.seconds), ["0 s", "12 ms", "0.5 s", "12 s", "3 min 05 s", "2 h 07 min"]);
  assert.equal(text.count(1234567), "1,234,567");
  assert.equal(text.bytes(52_000_000), "52.0 MB");
  assert.equal(text.stamp("2026-11-29T19:45:04.249Z"), "2026-11-29 19:45:04");
  assert.equal(text.stamp("<b>"), "–");
  assert.equal(text.between("2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z"), 90);
  assert.equal(text.between(undefined, "x"), null);
});

test("long texts are cut without halving a character", () => {
  const smile = "😀".repeat(50);
  assert.ok(!/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text.oneLine(smile, 31)));
  assert.equal(text.oneLine("a\n\n  b"), "a b");
});

test("deep links go there and back", () => {
  const places = [
    { page: "runs" }, { page: "runs", q: "a b&c=d#e", status: "paused", kind: "code", evalruns: true }, { page: "evals" }, { page: "start" },
    { page: "eval", report: "base,line-1" }, { page: "compare", reports: ["a,b", "c%2Cd"] },
    { page: "run", run: "x.y_z-1", view: "charts", seq: undefined }, { page: "run", run: "x", view: "timeline", seq: 12 },
  ];
  for (const place of places) assert.deepEqual(parse(format(place)), place);
});

test("a link from anywhere is taken or falls back to the list", () => {
  assert.equal(parse("").page, "runs");
  assert.equal(parse("#run=a&view=nonsense").view, "timeline");
  assert.equal(parse("#run=%E0%A4%A").run, "%E0%A4%A");
  assert.equal(parse("#run=a&seq=-1").seq, undefined);
  assert.equal(parse("#run=a&seq=1e9").seq, undefined);
  assert.equal(parse("#view=charts").page, "runs");
  assert.equal(parse("#run=a&run=b").run, "a");
  assert.deepEqual(parse("#eval=r"), { page: "eval", report: "r" });
});

test("links lead to this page and this server only", () => {
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "//evil.test/", "https://evil.test", " javascript:x", "blob:x"]) assert.equal(safeLink(bad), "#");
  for (const good of ["#run=a", "/api/runs/a/export.md", "#"]) assert.equal(safeLink(good), good);
});

test("addresses carry any name", () => {
  assert.equal(address("/api/runs", { q: "a&b=c/../d", status: "", evals: 0 }), "/api/runs?q=a%26b%3Dc%2F..%2Fd&evals=0");
  assert.equal(ofRun("../x?y#z", "/patch"), "/api/runs/..%2Fx%3Fy%23z/patch");
});

test("a call and its reply are one entry", () => {
  const line = new Timeline();
  line.addAll([call(1), replied(2)]);
  assert.equal(line.entries.length, 1);
  const [entry] = line.entries;
  assert.equal(entry.state, "done");
  assert.match(entry.more, /10 tokens in, 2 out/);
});

test("events that come again after a reconnect change nothing", () => {
  const line = new Timeline();
  line.addAll([call(1), replied(2)]);
  assert.deepEqual(line.addAll([call(1), replied(2)]), []);
  line.addAll([replied(2), { seq: 3, kind: "verdict", passed: true, reason: "ok" }]);
  assert.deepEqual(line.entries.map((one) => one.id), [1, 3]);
});

test("a call that a kill cut off is marked, and its repetition stands beside it", () => {
  const line = new Timeline();
  line.addAll([call(1), { seq: 2, kind: "run_started", resumed: true, task: "t" }, call(3), replied(4)]);
  assert.deepEqual(line.entries.map((one) => one.state), ["lost", undefined, "done"]);
});

test("a reply without its question (the page begins later) has an entry of its own", () => {
  const line = new Timeline();
  line.add(replied(900));
  assert.equal(line.entries[0].state, "done");
  assert.equal(line.entries[0].asked, null);
});

test("streamed text stands in the waiting call and is bounded", () => {
  const line = new Timeline();
  line.add(call(1));
  for (let n = 0; n < 300; n += 1) line.add({ kind: "model_text", node: "worker", text: "x".repeat(1000) });
  assert.equal(line.entries[0].live.length, 20_000);
  line.add(replied(2));
  assert.equal(line.entries[0].live, "");
  assert.deepEqual(line.add({ kind: "model_text", node: "nobody", text: "x" }), []);
});

test("filters", () => {
  const line = new Timeline();
  line.addAll([
    call(1), replied(2, { finish: "length" }), { seq: 3, kind: "verdict", passed: false, reason: "assert 2" }, { seq: 4, kind: "node_finished", node: "check", seconds: 1 },
    { seq: 5, kind: "paused", nonce: "n", question: "?" }, { seq: 6, kind: "owner_replied", answer: "stop", source: "terminal" }, { seq: 7, kind: "fault", node: "check", problem: "no engine" },
    { seq: 8, kind: "broken", text: "{" }, { seq: 9, kind: "never_heard_of", x: 1 },
  ]);
  const ids = (filter, query = "", hits = null) => chosen(line.entries, filter, query, hits).map((one) => one.id);
  assert.deepEqual(ids("calls"), [1]);
  assert.deepEqual(ids("pauses"), [5, 6]);
  assert.deepEqual(ids("failures"), [1, 3, 7, 8]);
  assert.deepEqual(ids("results"), [3, 4, 9]);
  assert.deepEqual(ids("all"), [1, 3, 5, 6, 7, 8, 9]);
  assert.deepEqual(ids("all", "NO ENGINE"), [7]);
  assert.deepEqual(ids("all", "deep in a prompt", new Set([2])), [1]);
});

test("events of any shape make entries, never an exception", () => {
  const line = new Timeline();
  const odd = [null, 7, {}, { kind: 5 }, { seq: 1, kind: "model_replied" }, { seq: 2, kind: "verdict", reason: 5, passed: "yes" }, { seq: 3, kind: "constructor" }, { seq: 4, kind: "__proto__" },
    { seq: 5, kind: "model_asked", messages: "x" }, { seq: 6, kind: "episode_step", call: null, observation: "text" }, { seq: 7, kind: "review", text: { a: 1 } }, { seq: 8, kind: "candidate", notes: "no list" }, { seq: 9, kind: "toString" }];
  line.addAll(odd);
  assert.equal(line.entries.length, 9);
  assert.equal(line.entries.find((one) => one.id === 2).good, false);
  for (const entry of line.entries) assert.equal(typeof textOf(entry), "string");
});

test("pauses and ends are followed", () => {
  const line = new Timeline();
  line.add({ seq: 1, kind: "paused", nonce: "a", question: "?" });
  assert.equal(line.pause.nonce, "a");
  line.addAll([{ seq: 2, kind: "owner_replied", answer: "stop" }, { seq: 3, kind: "run_ended", outcome: "stopped", reason: "r" }]);
  assert.equal(line.pause, null);
  assert.equal(line.ended.outcome, "stopped");
});

test("50,000 events are taken in well under a second", () => {
  const line = new Timeline();
  const begun = performance.now();
  for (let n = 0; n < 25_000; n += 1) line.addAll([call(2 * n + 1), replied(2 * n + 2)]);
  chosen(line.entries, "failures", "x");
  assert.equal(line.entries.length, 25_000);
  assert.ok(performance.now() - begun < 5000);
});

test("a run that goes on for ever does not fill the page", () => {
  const line = new Timeline();
  let gone = 0;
  for (let seq = 1; seq <= 400; seq += 1) {
    line.add({ seq, kind: "review", approved: true, text: "x" });
    gone = Math.max(gone, line.forget(100));
  }
  assert.ok(line.entries.length <= 150);
  assert.equal(line.entries[0].id, gone + 1);
  assert.equal(line.entries.at(-1).id, 400);
});

test("what a run has used so far is told by its events", () => {
  const line = new Timeline();
  line.addAll([call(1), replied(2), { seq: 3, kind: "verdict", lap: 1, passed: false }, call(4), replied(5, { usage: { unmeasured_calls: 1 } }), call(6)]);
  assert.deepEqual(line.sums(), { laps: 1, input_tokens: 10, output_tokens: 2, seconds: 1 });
});

test("a step is named by its tool and first argument", () => {
  assert.equal(stepName({ call: { name: "bash", arguments: { command: "ls\n-la" } } }), "bash ls -la");
  assert.equal(stepName({}), "no tool call");
});

test("the list of runs follows its stream", () => {
  const row = (thread, started, more = {}) => ({ thread, started, task: "demo", kind: "code", status: "passed", outcome: "passed", eval: false, ...more });
  let rows = [row("b", "2"), row("a", "1")];
  rows = withRow(rows, row("c", "3"), {});
  assert.deepEqual(rows.map((one) => one.thread), ["c", "b", "a"]);
  rows = withRow(rows, row("b", "2", { status: "error" }), {});
  assert.deepEqual(rows.map((one) => one.thread), ["c", "b", "a"]);
  assert.equal(rows[1].status, "error");
  assert.deepEqual(withRow(rows, row("d", "4", { eval: true }), {}).map((one) => one.thread), ["c", "b", "a"]);
  assert.deepEqual(withRow(rows, row("d", "4", { eval: true }), { evalruns: true })[0].thread, "d");
  assert.deepEqual(withRow(rows, row("b", "2", { status: "error" }), { status: "passed" }).map((one) => one.thread), ["c", "a"]);
  assert.deepEqual(withoutRow(rows, "c").map((one) => one.thread), ["b", "a"]);
});

test("search words must all occur", () => {
  const row = { thread: "Demo-1", task: "is_even", kind: "code", status: "paused", outcome: null, eval: false };
  assert.ok(matches(row, { q: "EVEN demo" }));
  assert.ok(!matches(row, { q: "even nobody" }));
  assert.ok(matches(row, { status: "paused,running", kind: "code" }));
  assert.ok(!matches(row, { kind: "project" }));
  assert.deepEqual(listQuery({ q: "x", evalruns: true }, 0, 10), { q: "x", status: "", kind: "", evals: 1, offset: 0, limit: 10 });
});

test("every status has a tone", () => {
  for (const status of STATUSES) assert.ok(TONES[status], status);
});

test("the call strip lies on the run's clock and stays drawable", () => {
  const calls = Array.from({ length: 3000 }, (_, n) => ({ seq: n, role: n % 2 ? "worker" : "lead", start_s: n, seconds: 0.5, input_tokens: null, output_tokens: 2, finish: n === 5 ? "length" : "stop" }));
  const bars = strip(calls, 3000);
  assert.equal(bars.length, 600);
  assert.equal(bars.reduce((sum, bar) => sum + bar.calls, 0), 3000);
  assert.ok(bars.every((bar) => bar.x >= 0 && bar.x + bar.w <= 1.0001));
  assert.ok(bars.some((bar) => bar.cut));
  assert.deepEqual(strip([], 0), []);
  assert.equal(strip([{ seq: 1, start_s: 0, seconds: 2, role: "lead" }], 0)[0].w, 1);
});

test("prefix reuse knows what was not measured", () => {
  const points = reuse([{ seq: 1, input_tokens: 100, reused_tokens: 80, role: "worker" }, { seq: 2, input_tokens: null, reused_tokens: 0, role: "worker" }, { seq: 3, input_tokens: 10, reused_tokens: 99, role: "worker" }]);
  assert.deepEqual(points.map((one) => one.share), [0.8, 1]);
  assert.equal(sharedPrefix([{ prompt_chars: 100, shared_prefix_chars: 0 }, { prompt_chars: 100, shared_prefix_chars: 90 }]), 0.45);
  assert.equal(sharedPrefix([]), null);
});

test("stacked bars share one scale", () => {
  const rows = stacked(freshTokens([{ role: "a", input_tokens: 100, reused_tokens: 60, output_tokens: 100 }, { role: "b", input_tokens: null, output_tokens: 20 }]), "role",
    [{ field: "fresh", mark: "x" }, { field: "reused_tokens", mark: "y" }, { field: "output_tokens", mark: "z" }]);
  assert.deepEqual(rows[0].parts.map((part) => [part.x, part.w]), [[0, 0.2], [0.2, 0.3], [0.5, 0.5]]);
  assert.equal(rows[1].parts[0].value, null);
  assert.equal(stacked([], "role", []).length, 0);
});

test("a trend leaves gaps where nothing was measured", () => {
  const points = trend([{ name: "a", rate: { value: 0.5, low: 0.2, high: 0.8 } }, { name: "b", rate: { value: null } }, { name: "c", rate: { value: 1 } }]);
  assert.deepEqual(points.map((point) => point.x), [0, 0.5, 1]);
  assert.deepEqual(segments(points).map((some) => some.length), [1, 1]);
});

test("a patch in rows", () => {
  const lines = [{ kind: " ", old: 1, new: 1, text: "a" }, { kind: "-", old: 2, text: "b" }, { kind: "+", new: 2, text: "B", ran: true }, { kind: "+", new: 3, text: "C", ran: null }];
  const files = [{ old: "x.py", new: "y.py", added: 2, removed: 1, hunks: [{ header: "@@", lines, rows: [[0, 0], [1, 2], [null, 3]] }] }, { old: null, new: "b.bin", binary: true, hunks: [] }];
  assert.deepEqual(flat(files).map((row) => row.kind), ["file", "hunk", "line", "line", "line", "line", "file", "note"]);
  const pairs = flat(files, true).filter((row) => row.kind === "pair");
  assert.equal(pairs[2].left, null);
  assert.equal(pairs[2].right.text, "C");
  assert.equal(new Set(flat(files).map((row) => row.id)).size, 8);
  assert.equal(nameOf(files[0]), "x.py → y.py");
  assert.deepEqual(summed(files), { files: 2, added: 2, removed: 1, ran: 1 });
  assert.deepEqual(lines.map(meaningOfLine), ["", "deleted", "added, ran", "added"]);
  assert.ok(shownLine("x".repeat(10_000_000)).length < 5000);
});

test("keys", () => {
  assert.equal(meaning("?").act, "help");
  assert.deepEqual(meaning("g"), { act: null, pending: "g" });
  assert.equal(meaning("e", { pending: "g" }).act, "evals");
  assert.equal(meaning("x", { pending: "g" }).act, null);
  assert.equal(meaning("j", { typing: true }).act, null);
  assert.equal(meaning("Escape", { typing: true }).act, "escape");
  assert.equal(meaning("j", { modifier: true }).act, null);
  assert.equal(meaning("toString").act, null);
  assert.ok(SHORTCUTS.length > 10);
});

test("pointers", () => {
  assert.equal(at({ a: [{ "b/c": "x", "d~e": 1 }] }, "/a/0/b~1c"), "x");
  assert.equal(at({ a: [{ "d~e": 1 }] }, "/a/0/d~0e"), 1);
  assert.equal(at({ a: 1 }, "/a/b/c"), undefined);
  assert.equal(at("whole", ""), "whole");
});

test("no module can make markup of a text, run a text, or ask another server", () => {
  const forbidden = /innerHTML|outerHTML|insertAdjacent|document\.write|createContextualFragment|DOMParser|srcdoc|\beval\s*\(|new Function|setAttribute\(\s*["'`]on|https?:\/\/(?!www\.w3\.org\/)|importScripts|WebSocket|sendBeacon|window\.open/;
  const files = readdirSync(STATIC).filter((name) => /\.(js|html|css|svg)$/.test(name));
  assert.ok(files.length > 25);
  for (const name of files) {
    const found = forbidden.exec(readFileSync(new URL(name, STATIC), "utf8"));
    if (name !== "icon.svg") assert.equal(found, null, `${name}: ${found?.[0]}`);
  }
});

test("the page itself has no inline script, style or handler", () => {
  const page = readFileSync(new URL("index.html", STATIC), "utf8");
  assert.doesNotMatch(page, /<script(?![^>]*\ssrc="\/static\/)|<style|\sstyle=|\son[a-z]+=/i);
});

test("modules import each other only, and stay small", () => {
  for (const name of readdirSync(STATIC).filter((one) => one.endsWith(".js"))) {
    const source = readFileSync(new URL(name, STATIC), "utf8");
    for (const [, from] of source.matchAll(/(?:from|import\()\s*"([^"]+)"/g)) assert.match(from, /^\.\/[a-z_]+\.js$/, name);
    assert.ok(source.split("\n").length <= 300, name);
  }
});

test("an answer that comes late does not undo what the stream has told since", () => {
  const heard = [];
  const jobs = Object.assign(Object.create(Jobs.prototype), { jobs: new Map(), heard: (job) => heard.push(job.status) });
  jobs.take({ id: "a", number: 2, status: "running" });
  jobs.take({ id: "a", number: 1, status: "waiting" });
  assert.equal(jobs.jobs.get("a").status, "running");
  jobs.take({ id: "a", number: 3, status: "ended" });
  jobs.take({ id: "b", number: 1, status: "waiting" });
  assert.deepEqual(heard, ["running", "ended", "waiting"]);
});
