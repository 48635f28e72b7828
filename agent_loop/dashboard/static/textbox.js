// A long text in pieces: the page never holds more of it than one piece.

import { h, replace } from "./dom.js";
import { count, visible } from "./text.js";

/** Characters of a long text that stand in the page at once. */
export const PIECE = 20_000;

/**
 * A block of text. `text`: its beginning; `chars`: the whole length; `more(offset, limit)`: a promise of
 * `{text, next}` where the whole is longer than what is here. `label` names it for a screen reader.
 */
export function textBox(text, { label, chars = 0, more = null, code = false } = {}) {
  const whole = Math.max(chars, text.length);
  const box = h("div", { class: "textbox" });
  const block = h("pre", { class: code ? "code" : "prose", tabindex: "0", role: "region", "aria-label": label ?? "Text" });
  box.append(block);
  const show = (piece) => replace(block, visible(piece));
  if (whole <= PIECE) {
    show(text);
    return box;
  }
  const fetched = more ?? ((offset, limit) => Promise.resolve({ text: text.slice(offset, offset + limit) }));
  show(text.slice(0, PIECE));
  box.append(pager(whole, fetched, show));
  return box;
}

function pager(whole, fetched, show) {
  const last = Math.ceil(whole / PIECE) - 1;
  let at = 0;
  const said = h("span", { role: "status" });
  const go = async (to) => {
    const wanted = Math.max(0, Math.min(last, to));
    said.textContent = "Loading …";
    try {
      show((await fetched(wanted * PIECE, PIECE)).text);
      at = wanted;
      label();
    } catch (problem) {
      said.textContent = problem.message;
    }
  };
  const buttons = [
    button("First", () => go(0)), button("Previous", () => go(at - 1)), button("Next", () => go(at + 1)), button("Last", () => go(last)),
  ];
  const label = () => {
    said.textContent = `Piece ${count(at + 1)} of ${count(last + 1)}, ${count(whole)} characters`;
    buttons[0].disabled = buttons[1].disabled = at === 0;
    buttons[2].disabled = buttons[3].disabled = at === last;
  };
  label();
  return h("div", { class: "pager", role: "group", "aria-label": "Pieces of a long text" }, buttons, said);
}

function button(text, act) {
  return h("button", { type: "button", class: "small", on: { click: act } }, text);
}

/** The value at a JSON pointer of an event or a record, as text. */
export function at(value, pointer) {
  let found = value;
  for (const part of pointer.split("/").slice(1)) {
    if (found === null || typeof found !== "object") return undefined;
    found = found[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return found;
}
