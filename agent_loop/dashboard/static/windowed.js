// A list that keeps only what is seen in the page, however long it is. Scrolls with the window.

const SPARE_PX = 600;

export class Windowed {
  /**
   * `list`: an empty `ol` or `ul`. `key(item)`: its identity; `render(item, index)`: the inside of its `li`.
   * `height`: the guess for rows that were never drawn, in pixels.
   */
  constructor(list, { key, render, height = 48, end = () => {} }) {
    Object.assign(this, { list, key, render, height, end });
    this.items = [];
    this.heights = new Map();
    this.drawn = new Map();
    this.tops = [0];
    this.planned = 0;
    list.classList.add("windowed");
    this.onScroll = () => this.plan();
    addEventListener("scroll", this.onScroll, { passive: true });
    addEventListener("resize", this.onScroll, { passive: true });
    this.sizes = new ResizeObserver((all) => this.measured(all));
  }

  set(items) {
    this.items = items;
    const kept = new Set(items.map(this.key));
    for (const [key, row] of this.drawn) if (!kept.has(key)) this.drop(key, row);
    this.layout();
    this.draw();
  }

  /** Draw these items again: they have changed inside. */
  refresh(keys) {
    for (const key of keys) {
      const row = this.drawn.get(key);
      const at = row ? this.items.findIndex((item) => this.key(item) === key) : -1;
      if (at >= 0) this.fill(row, at);
    }
  }

  indexOf(key) {
    return this.items.findIndex((item) => this.key(item) === key);
  }

  /** Bring an item into view; its `li` comes back. */
  show(index) {
    if (!this.items.length) return null;
    const at = Math.max(0, Math.min(this.items.length - 1, index));
    const base = this.list.getBoundingClientRect().top + scrollY;
    const top = base + this.tops[at];
    const bottom = base + this.tops[at + 1];
    const head = headHeight();
    if (top < scrollY + head) scrollTo(0, Math.max(0, top - head - 8));
    else if (bottom > scrollY + innerHeight) scrollTo(0, Math.min(top - head - 8, bottom - innerHeight + 24));
    this.draw();
    return this.drawn.get(this.key(this.items[at])) ?? null;
  }

  close() {
    removeEventListener("scroll", this.onScroll);
    removeEventListener("resize", this.onScroll);
    cancelAnimationFrame(this.planned);
    this.sizes.disconnect();
    this.drawn.clear();
  }

  plan() {
    cancelAnimationFrame(this.planned);
    this.planned = requestAnimationFrame(() => this.draw());
  }

  layout() {
    this.tops = [0];
    for (const item of this.items) this.tops.push(this.tops.at(-1) + (this.heights.get(this.key(item)) ?? this.height));
    this.list.style.height = `${this.tops.at(-1)}px`;
    for (const [key, row] of this.drawn) {
      const at = row.at;
      if (this.items[at] && this.key(this.items[at]) === key) row.element.style.top = `${this.tops[at]}px`;
    }
  }

  draw() {
    if (!this.list.isConnected) return;
    const top = -this.list.getBoundingClientRect().top;
    const first = this.after(top - SPARE_PX);
    const last = Math.min(this.items.length - 1, this.after(top + innerHeight + SPARE_PX));
    const wanted = new Map();
    for (let at = first; at <= last; at += 1) wanted.set(this.key(this.items[at]), at);
    for (const [key, row] of this.drawn) {
      // The row that has the focus stays: taking it away would throw the reader to the top.
      if (!wanted.has(key) && !row.element.contains(document.activeElement)) this.drop(key, row);
    }
    let before = null;
    for (const [key, at] of wanted) before = this.place(key, at, before);
    if (last >= this.items.length - 1) this.end();
  }

  place(key, at, before) {
    let row = this.drawn.get(key);
    if (!row) {
      row = { element: document.createElement("li"), at: -1, key };
      this.drawn.set(key, row);
      this.fill(row, at);
      this.sizes.observe(row.element);
    } else if (row.at !== at || row.item !== this.items[at]) this.fill(row, at);
    row.element.style.top = `${this.tops[at]}px`;
    const next = before ? before.nextSibling : this.list.firstChild;
    if (next !== row.element) this.list.insertBefore(row.element, next);
    return row.element;
  }

  fill(row, at) {
    const held = row.element.contains(document.activeElement);
    row.at = at;
    row.item = this.items[at];
    row.element.setAttribute("aria-posinset", String(at + 1));
    row.element.setAttribute("aria-setsize", String(this.items.length));
    row.element.replaceChildren(this.render(row.item, at));
    if (held) row.element.querySelector("a, button")?.focus({ preventScroll: true });
  }

  drop(key, row) {
    this.sizes.unobserve(row.element);
    row.element.remove();
    this.drawn.delete(key);
  }

  measured(all) {
    let changed = false;
    for (const { target } of all) {
      const row = [...this.drawn.values()].find((one) => one.element === target);
      const height = target.offsetHeight;
      if (row && height && this.heights.get(row.key) !== height) {
        this.heights.set(row.key, height);
        changed = true;
      }
    }
    if (!changed) return;
    this.layout();
    this.plan();
  }

  /** The first item whose end lies after this place. */
  after(px) {
    let low = 0;
    let high = Math.max(0, this.items.length - 1);
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.tops[mid + 1] > px) high = mid;
      else low = mid + 1;
    }
    return low;
  }
}

function headHeight() {
  return document.querySelector("body > header")?.offsetHeight ?? 0;
}
