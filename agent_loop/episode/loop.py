"""The loop of the worker with tools: ask, do, show, until one of eight ways out.

Read it from `run` down. What the model says decides what is done next and never whether it was done
well: an episode leaves a changed working copy, and the check judges that elsewhere.
"""

from collections.abc import Sequence
from dataclasses import replace

from agent_loop.episode.history import History
from agent_loop.episode.protocol import NoCall, described, offered, read_call, recovered
from agent_loop.episode.repeats import END, NO_ACTION, NUDGE, Repeats, action_of
from agent_loop.episode.spending import Spending, Watch
from agent_loop.episode.terms import Episode, Protocol, Setting, StopReason
from agent_loop.episode.wire import Wire
from agent_loop.errors import AgentLoopError, Cancelled, DeadlinePassed, FaultError
from agent_loop.ports import Message, Observation, Reply, ToolCall
from agent_loop.prompts import bounded, cleaned

MAX_CALLS = 8
"""Tool calls of one reply that are run; the others are told so."""
_CUT = (
    "The answer was cut at its token limit, so nothing of it was run. Answer shorter: one call, "
    "and a large file in several edits."
)
_MORE = "\n\n[Only the first call of the answer was run. Make one call, then read what it gave.]"
_NEVER_NATIVE = (
    "; the model was given tools and wrote every call as text: it is unsuited to native calls, "
    "episode.protocol: text suits it better"
)
_NUDGE = (
    "\n\n[That was the same for the {times}th time in a row. At the {end}th the work ends here. "
    "Do something else.]"
)


def run_episode(setting: Setting) -> Episode:
    """Work with tools until a way out is reached. A fault is the way out `error`, not raised."""
    return _Loop(setting).run()


class _Loop:
    def __init__(self, setting: Setting) -> None:
        self.setting, self.limits = setting, setting.limits
        self.tools = setting.toolbox.specs
        self.protocol: Protocol = "text"
        self.history = History(setting.opening, self.tools, self.limits.context_tokens)
        self.watch = Watch(setting.clock, self.limits.seconds, setting.cancel)
        self.spending = Spending(self.limits)
        self.wire = Wire(setting)
        self.repeats = Repeats()
        self.actions: list[str] = []
        self.steps = self.calls = self.native_calls = self.recovered_calls = self.no_calls = 0

    def run(self) -> Episode:
        """The loop itself. Every way out goes through `finish`."""
        try:
            self.begin()
            for step in range(1, self.limits.max_steps + 1):
                if limit := self.limit():
                    return self.finish(limit)
                self.steps = step
                reply = self.ask()
                if reply.refused:
                    return self.finish("model_refusal", reply.text or "the provider says so")
                if self.history.summing_up:
                    self.wire.told_summary(step, reply.text)
                    self.history.start_afresh(reply.text, self.actions)
                    continue
                self.history.say(reply)
                observations, times = self.act(reply)
                if observations[-1].submitted:
                    return self.finish("submitted")
                if times >= END:
                    return self.finish("loop_detected", self.circle(times))
                self.show(reply, observations, times)
            return self.finish(self.limit() or "step_limit")
        except Cancelled as stop:
            if self.watch.is_late and not self.setting.cancel.is_set():
                return self.finish("time_limit")
            return self.finish("error", str(stop), stop)
        except FaultError as fault:
            return self.finish("error", str(fault), fault)

    def finish(
        self, reason: StopReason, detail: str = "", fault: AgentLoopError | None = None
    ) -> Episode:
        """The one way out: says why, to the trace and to the caller."""
        words = detail or self.spending.words(reason, self.watch.seconds)
        if self.protocol == "native" and self.recovered_calls and not self.native_calls:
            words += _NEVER_NATIVE
        episode = Episode(
            reason=reason,
            detail=bounded(cleaned(words), 600),
            steps=self.steps,
            usage=self.spending.usage,
            guessed_tokens=self.spending.guessed_tokens,
            seconds=self.watch.seconds,
            protocol=self.protocol,
            calls=self.calls,
            native_calls=self.native_calls,
            recovered_calls=self.recovered_calls,
            no_calls=self.no_calls,
            replies=self.spending.replies,
            answered=self.spending.answered,
            context_cuts=self.spending.context_cuts,
            histories=self.history.lists,
            fault=fault,
        )
        self.wire.told_end(episode)
        return episode

    # --- around the steps -----------------------------------------------------------------------

    def begin(self) -> None:
        """Find out how tools are called; describe them to a model that cannot take them."""
        asked = self.setting.protocol
        native = asked == "native" or (asked == "auto" and self.setting.model.native_tools)
        self.protocol = "native" if native else "text"
        if not native:
            first, *others = self.setting.opening
            told = replace(first, content=f"{first.content}\n\n{described(self.tools)}")
            self.history = History((told, *others), (), self.limits.context_tokens)
        self.wire.told_start(self.protocol, self.tools)

    def limit(self) -> StopReason | None:
        """The limit that is reached, if one is."""
        return "time_limit" if self.watch.is_late else self.spending.reached()

    def circle(self, times: int) -> str:
        """What went round."""
        if self.actions[-1] != NO_ACTION:
            return f"the same {times} times in a row: {self.actions[-1]}"
        return (
            f"{times} answers in a row held no call that could be run: this model looks unsuited "
            f"to tools (protocol: {self.protocol}). Try another episode.protocol, or "
            "worker_mode: reply"
        )

    # --- one step -------------------------------------------------------------------------------

    def ask(self) -> Reply:
        """One model call over the whole history. Retries are the model's own."""
        tools = self.tools if self.protocol == "native" else ()
        messages = self.history.messages
        reply = self.wire.ask(messages, self.steps, tools=tools, cancel=self.watch)
        self.spending.add(reply, messages)
        return reply

    def act(self, reply: Reply) -> tuple[list[Observation], int]:
        """Run the calls of a reply. What each gave, and how often the same has come in a row."""
        try:
            calls, was_recovered, more = self.calls_of(reply)
        except NoCall as problem:
            self.no_calls += 1
            self.actions.append(NO_ACTION)
            seen = _refused(str(problem))
            self.wire.told_step(self.steps, None, seen)
            return [seen], self.repeats.saw(NO_ACTION)
        observations: list[Observation] = []
        times = 0
        for place, call in enumerate(calls):
            seen = self.call(call) if place < MAX_CALLS else _refused("Too many calls at once.")
            self.wire.told_step(self.steps, call, seen, recovered=was_recovered)
            observations.append(replace(seen, text=seen.text + more))
            self.actions.append(action_of(call))
            times = max(times, self.repeats.saw(self.actions[-1]))
            if seen.submitted:
                break
        return observations, times

    def calls_of(self, reply: Reply) -> tuple[Sequence[ToolCall], bool, str]:
        """(calls in order, was one recovered from text, what to add to what it gave).

        Raises:
            NoCall: nothing that can be run; the message tells the model why.
        """
        if reply.finish == "length":
            raise NoCall(_CUT)
        if reply.tool_calls:
            self.native_calls += len(reply.tool_calls)
            return reply.tool_calls, False, ""
        if reply.bad_calls:
            raise NoCall("The call was not run: " + "; ".join(b.problem for b in reply.bad_calls))
        read = (read_call if self.protocol == "text" else recovered)(reply.text, self.tools)
        self.recovered_calls += read.recovered
        return [read.call(f"text-{self.steps}")], read.recovered, _MORE if read.more else ""

    def call(self, call: ToolCall) -> Observation:
        """One call. What is wrong with it is something for the model to see, not an error."""
        try:
            offered(call.name, self.tools)
            self.calls += 1
            deadline = self.watch.deadline(self.limits.call_s)
            return self.setting.toolbox.call(call, deadline=deadline, cancel=self.watch)
        except (NoCall, DeadlinePassed) as problem:
            return _refused(f"{problem}")

    def show(self, reply: Reply, observations: Sequence[Observation], times: int) -> None:
        """Give the model what its calls gave, cut with a marker; and a nudge where it circles."""
        nudge = _NUDGE.format(times=times, end=END) if times >= NUDGE else ""
        texts = [
            bounded(cleaned(one.text) or "(no output)", self.limits.observation_chars) + nudge
            for one in observations
        ]
        ids = [one.id for one in reply.tool_calls] + [one.id for one in reply.bad_calls]
        if not ids:
            self.history.answer([Message(role="user", content=texts[-1])])
            return
        # A provider wants an answer to each of its calls, run or not.
        texts += ["This call was not run."] * (len(ids) - len(texts))
        self.history.answer(
            [
                Message(role="tool", content=text, tool_call_id=id_)
                for text, id_ in zip(texts, ids, strict=False)
            ]
        )


def _refused(problem: str) -> Observation:
    return Observation(text=problem, ok=False)
