// Keyboard shortcuts: which key means what, and the list of them. Pure but for `rowsOf`.

export const SHORTCUTS = [
  ["?", "Show or hide this list"],
  ["g r", "Go to the runs"],
  ["g e", "Go to the evals"],
  ["g s", "Go to Start (job server)"],
  ["/", "Search"],
  ["j  k", "Next, previous row"],
  ["Enter", "Open the row"],
  ["u", "Up: from a run to the list"],
  ["1 – 5", "Timeline, Charts, Patch, Episodes, Result of a run"],
  ["f", "Next filter of the timeline"],
  ["[  ]", "Previous, next step of an episode"],
  ["s", "Patch: unified or side by side"],
  ["t", "Colours: as the system has them, light, dark"],
  ["Esc", "Leave the search, close this list"],
];

const ONE = {
  "?": "help", "/": "search", j: "next", k: "previous", u: "up", f: "filter", t: "theme", s: "sides", "[": "stepBack", "]": "stepNext",
  1: "view0", 2: "view1", 3: "view2", 4: "view3", 5: "view4", Escape: "escape",
};
const AFTER_G = { r: "runs", e: "evals", s: "start" };

/** What a key means: `{act, pending}`. `pending` is the first key of a pair that has begun. */
export function meaning(key, { typing = false, modifier = false, pending = "" } = {}) {
  if (modifier) return { act: null, pending: "" };
  if (typing) return { act: key === "Escape" ? "escape" : null, pending: "" };
  if (pending === "g") return { act: AFTER_G[key] ?? null, pending: "" };
  if (key === "g") return { act: null, pending: "g" };
  return { act: Object.hasOwn(ONE, key) ? ONE[key] : null, pending: "" };
}

/** Is somebody writing into this element? */
export function isTyping(element) {
  if (!element?.matches) return false;
  return element.matches("textarea, select, input:not([type=checkbox])") || element.isContentEditable === true;
}
