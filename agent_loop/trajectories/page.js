// Keys over the steps: the page itself needs no script to be read.
const steps = [...document.querySelectorAll("summary")];
const at = () => Math.max(0, steps.indexOf(document.activeElement));
const go = (index) => {
  const step = steps[Math.min(steps.length - 1, Math.max(0, index))];
  step.focus();
  step.scrollIntoView({ block: "nearest" });
};
const bad = (from, by) => {
  for (let i = from + by; i >= 0 && i < steps.length; i += by) {
    if (steps[i].parentElement.classList.contains("bad")) return i;
  }
  return from;
};
const focused = () => steps.includes(document.activeElement);
const keys = {
  j: () => go(focused() ? at() + 1 : 0),
  k: () => go(at() - 1),
  ArrowDown: () => go(focused() ? at() + 1 : 0),
  ArrowUp: () => go(at() - 1),
  Home: () => go(0),
  End: () => go(steps.length - 1),
  n: () => go(bad(focused() ? at() : -1, 1)),
  p: () => go(bad(at(), -1)),
  o: () => {
    const open = steps.some((step) => !step.parentElement.open);
    for (const step of steps) step.parentElement.open = open;
  },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
