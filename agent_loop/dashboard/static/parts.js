// Small pieces that every view uses.

import { h, replace } from "./dom.js";
import { meaningOf, toneOf, words } from "./runlist.js";
import { visible } from "./text.js";

export function badge(status) {
  return h("span", { class: `badge ${toneOf(status)}`, title: meaningOf(status) || null }, words(status));
}

export function mark(text, tone) {
  return h("span", { class: `badge ${tone}` }, text);
}

export function button(text, act, props = {}) {
  return h("button", { type: "button", ...props, on: { click: act } }, text);
}

/** What is shown where nothing is: what that means and what to do. */
export function empty(title, ...what) {
  return h("section", { class: "empty" }, h("h2", {}, title), what.map((one) => (typeof one === "string" ? h("p", {}, one) : one)));
}

export function command(text) {
  return h("pre", { class: "command", tabindex: "0", role: "region", "aria-label": "Command" }, text);
}

/** An error, in the words of whoever raised it, with a way to try again. */
export function failure(problem, again) {
  const retry = again ? button("Try again", again) : null;
  return h("section", { class: "empty bad", role: "alert" }, h("h2", {}, titleOf(problem)), h("p", {}, visible(problem.message)), retry);
}

function titleOf(problem) {
  if (problem.status === 401) return "Not logged in";
  if (problem.status === 404) return "Not found";
  if (problem.status === 0) return "No answer";
  return "This did not work";
}

/** Fill `root` with what `load` promises; say so meanwhile, and what went wrong where it fails. */
export async function loading(root, what, load) {
  replace(root, h("p", { class: "wait-note" }, `Loading ${what} …`));
  try {
    replace(root, await load());
  } catch (problem) {
    if (problem.name === "AbortError") return;
    if (!problem.status && problem.status !== 0) throw problem;
    replace(root, failure(problem, () => loading(root, what, load)));
  }
}

/** A table. `columns`: [[heading, cell(row), class]]. */
export function table(caption, columns, rows) {
  const head = h("tr", {}, columns.map(([title, , kind]) => h("th", { scope: "col", class: kind }, title)));
  const body = rows.map((row) => h("tr", {}, columns.map(([, cell, kind], at) => cellOf(cell(row), kind, at))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, body)));
}

function cellOf(value, kind, at) {
  return at === 0 ? h("th", { scope: "row", class: kind }, value) : h("td", { class: kind }, value);
}

/** Names and values. */
export function facts(pairs) {
  const shown = pairs.filter((pair) => pair && pair[1] !== null && pair[1] !== undefined && pair[1] !== "");
  return h("dl", { class: "facts" }, shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

export function section(title, ...inside) {
  return h("section", { class: "part" }, h("h2", {}, title), inside);
}

export function later(act, wait = 200) {
  let timer = null;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), wait);
  };
}
