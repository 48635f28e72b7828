// Small drawings: bars, strips and lines as SVG, their words as text beside them.

import { h, s } from "./dom.js";
import { isNumber } from "./text.js";

const ROLES = new Set(["lead", "worker", "reviewer", "escalation", "several"]);

export function roleClass(role) {
  return ROLES.has(role) ? `role-${role}` : "role-other";
}

/** A picture that stretches: x from 0 to 1000, y from 0 to `height`. The words say what it shows. */
export function picture(words, height, ...inside) {
  return s("svg", { viewBox: `0 0 1000 ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": words, class: "picture" }, inside);
}

/** One row of stacked parts. */
export function barRow(row, said) {
  const bars = row.parts.filter((part) => part.w > 0).map((part) => s("rect", { x: part.x * 1000, y: 2, width: Math.max(part.w * 1000, 1.5), height: 16, class: part.mark }, s("title", {}, `${part.name}: ${part.value}`)));
  return h("div", { class: "bar-row" }, h("span", { class: "bar-name" }, row.label), picture(`${row.label}: ${said}`, 20, bars), h("span", { class: "num" }, said));
}

/** A rate with its interval: a bar, and a line from low to high. */
export function rateBar(words, rate, kind = "fill-a") {
  const inside = [s("rect", { x: 0, y: 1, width: 1000, height: 18, class: "ground" })];
  if (isNumber(rate?.value)) inside.push(s("rect", { x: 0, y: 4, width: Math.max(rate.value * 1000, 1.5), height: 12, class: kind }));
  if (isNumber(rate?.low) && isNumber(rate?.high)) {
    inside.push(s("line", { x1: rate.low * 1000, x2: Math.max(rate.high * 1000, rate.low * 1000 + 1), y1: 10, y2: 10, class: "whisker" }));
    for (const x of [rate.low, rate.high]) inside.push(s("line", { x1: x * 1000, x2: x * 1000, y1: 4, y2: 16, class: "whisker" }));
  }
  return picture(words, 20, inside);
}

export function legend(items) {
  return h("ul", { class: "legend" }, items.map(([mark, text]) => h("li", {}, s("svg", { viewBox: "0 0 10 10", "aria-hidden": "true", class: "key" }, s("rect", { width: 10, height: 10, class: mark })), text)));
}

/** Points joined by lines, with their intervals; segments do not cross a gap. */
export function lineChart(words, segments) {
  const y = (value) => 100 - value * 92 - 4;
  const x = (value) => 20 + value * 960;
  const inside = [0, 0.5, 1].map((at) => s("line", { x1: 0, x2: 1000, y1: y(at), y2: y(at), class: "rule" }));
  for (const points of segments) {
    inside.push(s("polyline", { points: points.map((point) => `${x(point.x)},${y(point.y)}`).join(" "), class: "trend-line" }));
    for (const point of points) {
      if (isNumber(point.low) && isNumber(point.high)) inside.push(s("line", { x1: x(point.x), x2: x(point.x), y1: y(point.low), y2: y(point.high), class: "whisker" }));
      inside.push(s("line", { x1: x(point.x), x2: x(point.x) + 0.01, y1: y(point.y), y2: y(point.y), class: "dot" }));
    }
  }
  const drawn = picture(words, 100, inside);
  drawn.classList.add("tall");
  return drawn;
}
