// The proofs and looks of a verdict.

import { h } from "./dom.js";
import { count, plural, visible } from "./text.js";

export function proofList(verdict) {
  const proofs = listOf(verdict.proofs);
  const looks = listOf(verdict.looks);
  const executed = listOf(verdict.executed);
  return [
    proofs.length ? [h("h4", {}, "Proofs"), h("ul", { class: "proofs" }, proofs.map(proof))] : null,
    looks.length ? [h("h4", {}, "Look before you trust this pass"), h("ul", { class: "proofs" }, looks.map(look))] : null,
    executed.length ? ran(executed) : null,
  ];
}

function proof(one) {
  const held = one?.held === true;
  return h("li", { class: held ? "good" : "bad" }, h("span", { "aria-hidden": "true" }, held ? "✓ " : "✗ "),
    h("strong", {}, visible(one?.name ?? "?")), held ? " held" : " did not hold", one?.detail ? `: ${visible(one.detail)}` : "");
}

function look(one) {
  return h("li", { class: "wait" }, h("span", { "aria-hidden": "true" }, "⚑ "), h("strong", {}, visible(one?.signal ?? "?")), one?.detail ? `: ${visible(one.detail)}` : "");
}

function ran(names) {
  const shown = names.slice(0, 500);
  const rest = names.length - shown.length;
  return h("details", {}, h("summary", {}, `What ran: ${plural(names.length, "assert or test", "asserts or tests")}`),
    h("ul", { class: "names" }, shown.map((name) => h("li", {}, visible(String(name)))), rest ? h("li", {}, `and ${count(rest)} more: they stand in the record`) : null));
}

function listOf(value) {
  return Array.isArray(value) ? value : [];
}
