// Live updates: a stream of events, and polling where the stream does not come through.

const FIRST_WORD_MS = 6_000;
const POLL_MS = 2_000;
const AGAIN_MS = 30_000;
const MOST_ERRORS = 3;

/**
 * Follow a stream until `stop()`.
 *
 * A hidden page lets go of its stream: a browser gives one server six connections for all its pages.
 * `address()` names the stream from where the page is; `on` maps event names to functions of (data, id);
 * `talks`: it always begins with an event, so that one that says nothing is held back by somebody.
 * `poll()` asks once and may throw; `state(word)` hears "live", "polling", "hidden" or "offline".
 */
export class Live {
  constructor({ address, on, poll, talks = false, state = () => {} }) {
    Object.assign(this, { address, on, poll, talks, state });
    this.source = null;
    this.timer = null;
    this.errors = 0;
    this.stopped = false;
    this.look = () => (document.hidden ? this.rest() : this.open());
    document.addEventListener("visibilitychange", this.look);
    this.look();
  }

  open() {
    if (this.stopped || this.source) return;
    this.clear();
    const source = new EventSource(this.address());
    this.source = source;
    let heard = false;
    const hears = () => {
      heard = true;
      this.errors = 0;
      this.state("live");
    };
    for (const [name, take] of Object.entries(this.on)) {
      source.addEventListener(name, (event) => {
        hears();
        if (!this.stopped) take(parsed(event.data), event.lastEventId);
      });
    }
    if (!this.talks) source.addEventListener("open", hears);
    source.onerror = () => this.failed(source);
    // A proxy that collects the stream looks like a server that says nothing.
    this.timer = setTimeout(() => heard || this.fallBack(), FIRST_WORD_MS);
  }

  failed(source) {
    if (this.stopped || source !== this.source) return;
    this.errors += 1;
    this.state("offline");
    if (source.readyState === EventSource.CLOSED || this.errors >= MOST_ERRORS) this.fallBack();
  }

  fallBack() {
    this.close();
    const until = Date.now() + AGAIN_MS;
    const turn = async () => {
      if (this.stopped || document.hidden) return;
      try {
        await this.poll();
        this.state("polling");
      } catch (problem) {
        this.state(problem.status === 401 ? "login" : "offline");
      }
      if (this.stopped || this.source) return;
      if (Date.now() > until) this.open();
      else this.timer = setTimeout(turn, POLL_MS);
    };
    turn();
  }

  rest() {
    this.close();
    this.state("hidden");
  }

  /** Begin anew, from where `address()` says now. */
  again() {
    this.close();
    this.open();
  }

  close() {
    this.clear();
    this.source?.close();
    this.source = null;
  }

  clear() {
    clearTimeout(this.timer);
    this.timer = null;
  }

  stop() {
    this.stopped = true;
    this.close();
    document.removeEventListener("visibilitychange", this.look);
  }
}

function parsed(data) {
  try {
    return JSON.parse(data);
  } catch {
    return {};
  }
}
