// The owner call: stop, accept (twice), or guidance. The one thing this page can change.

import { announce, h, replace } from "./dom.js";
import { ofRun } from "./api.js";
import { button } from "./parts.js";
import { textBox } from "./textbox.js";
import { count, visible } from "./text.js";

export class OwnerPanel {
  constructor(run) {
    this.run = run;
    this.element = h("section", { class: "owner", "aria-label": "Owner call", hidden: true });
    this.show(run.run.pause);
  }

  show(pause) {
    const key = pause ? `${pause.nonce}:${Boolean(pause.reply_waiting)}:${Boolean(pause.driver)}` : "";
    if (key === this.key) return;
    const held = this.key?.split(":")[0] === pause?.nonce ? this.guidance?.value : "";
    this.key = key;
    this.armed = false;
    // The word that an answer came too late outlives the pause that it was for.
    const last = this.refusal;
    this.refusal = "";
    this.element.hidden = !pause && !last;
    if (!pause) {
      replace(this.element, last ? h("p", { class: "said" }, last) : null);
      return;
    }
    this.pause = pause;
    this.frame(held ?? "");
  }

  frame(held) {
    const { pause } = this;
    this.said = h("p", { class: "said", role: "status" });
    replace(this.element,
      h("h2", {}, "The run waits for you"),
      h("p", { class: `reason ${pause.tests_passed ? "good" : "bad"}` }, this.standing()),
      h("div", { class: "question" }, textBox(pause.question ?? "", { label: "Question" })),
      pause.reply_waiting ? h("p", { class: "note" }, this.taken()) : this.controls(held), this.said);
  }

  standing() {
    const { tests_passed: passed, rejections } = this.pause;
    const tests = passed === true ? "The check passed." : passed === false ? "The check did NOT pass." : "Whether the check passed is not known.";
    return rejections ? `${tests} Rejections so far: ${count(rejections)}.` : tests;
  }

  taken() {
    if (this.pause.driver) return "Your answer is left; the run takes it in a moment.";
    return `Your answer is left. Nobody drives this run now: it is used when somebody types  loop.py --continue ${this.run.thread}`;
  }

  controls(held) {
    const most = this.run.ctx.api.session?.reply?.max_chars ?? 2000;
    this.guidance = h("textarea", { id: "guidance", rows: "3", maxlength: String(most), value: held });
    this.accept = button("Accept", () => this.accepting(), { class: "good", id: "accept" });
    const nobody = this.pause.driver ? null : h("p", { class: "note" }, "Nobody drives this run now. An answer is kept until it goes on (loop.py --continue).");
    return h("form", { class: "answer", on: { submit: (event) => this.guided(event) } }, nobody,
      h("label", { for: "guidance" }, "Guidance for the worker"), this.guidance,
      h("p", { class: "actions" }, h("button", { type: "submit", class: "main", id: "guide" }, "Send guidance"), this.accept, button("Stop the run", () => this.send("stop"), { class: "bad", id: "stop" })));
  }

  /** The first click says what would be accepted; only the second accepts. */
  accepting() {
    if (this.armed) {
      this.send("accept");
      return;
    }
    this.armed = true;
    const failed = this.pause.tests_passed !== true;
    this.accept.textContent = failed ? "Tests FAILED: click again to accept all the same" : "Tests passed: click again to accept";
    this.accept.classList.toggle("bad", failed);
    this.say(failed ? "The tests did not pass. A second click accepts the answer all the same." : "A second click accepts the answer.");
  }

  guided(event) {
    event.preventDefault();
    const text = this.guidance.value.trim();
    if (text) this.send("guidance", text);
    else this.say("Write what the worker should do, or use Accept or Stop.");
  }

  async send(kind, text) {
    const body = { nonce: this.pause.nonce, kind, ...(text ? { text } : {}) };
    this.busy(true);
    this.say("Sending …");
    try {
      await this.run.ctx.api.post(ofRun(this.run.thread, "/reply"), body);
      this.show({ ...this.pause, reply_waiting: true });
      this.say(`Sent: ${kind}.`);
    } catch (problem) {
      this.busy(false);
      this.say(this.refused(problem));
      if (problem.status !== 409) return;
      this.refusal = this.refused(problem);
      this.run.reload();
    }
  }

  refused(problem) {
    if (problem.code === "not_paused" || problem.code === "stale_nonce") return "Too late: this pause was answered already, from the terminal or another page.";
    if (problem.code === "reply_waiting") return "An answer is waiting already; the run takes that one.";
    return visible(problem.message);
  }

  busy(on) {
    for (const one of this.element.querySelectorAll("button, textarea")) one.disabled = on;
  }

  say(text) {
    this.said.textContent = text;
    announce(text);
  }

  close() {
    replace(this.element);
  }
}
