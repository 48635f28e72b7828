"""One page of a run: every step, nothing loaded, no text of a model that could be markup."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from importlib import resources

from agent_loop.ports import Json
from agent_loop.trajectories.story import Event, Story, Turn, counted, maps, text_of

MOST_CHARS = 40_000
"""Of one text; the whole is in the trace."""
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
"""Control characters, and those that turn the direction of text: shown, not obeyed."""
_QUIET = frozenset({"node_finished", "model_text"})
_WHY = ("reason", "problem", "outcome", "answer")
_GOOD = frozenset({"passed", "accepted", "submitted"})
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{summary}</p>
<p><kbd>j</kbd> <kbd>k</kbd> next and previous step · <kbd>Enter</kbd> open or close ·
<kbd>n</kbd> <kbd>p</kbd> next and previous problem · <kbd>o</kbd> all · <kbd>Home</kbd>
<kbd>End</kbd></p>
</header>
<main><ol>
{steps}
</ol></main>
<script>{js}</script>
</body>
</html>
"""


def page(story: Story) -> str:
    """The page as text."""
    css, js = _file("page.css"), _file("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(css)}; script-src {_hash(js)}; "
        "base-uri 'none'; form-action 'none'"
    )
    record = story.record
    outcome = text_of(record, "outcome") or "not ended"
    summary = f"{outcome}: {text_of(record, 'reason')} · task {text_of(record, 'task')}"
    return _PAGE.format(
        policy=policy,
        title=_safe(f"Run {story.thread}"),
        summary=_safe(f"{summary} · {text_of(record, 'started')}"),
        css=css,
        js=js,
        steps="\n".join(_steps(story)),
    )


def _steps(story: Story) -> Iterator[str]:
    for one in story.told:
        if isinstance(one, Turn):
            yield _turn(one)
            yield from map(_step, one.steps)
        elif one.get("kind") == "node_started":
            again = " (again: a kill cut it off)" if one.get("again") else ""
            lap = f", lap {one['lap']}" if one.get("lap") else ""
            yield f'<li><h2 class="node">{_safe(text_of(one, "node") + lap + again)}</h2></li>'
        elif one.get("kind") not in _QUIET:
            yield _event(one)


def _turn(turn: Turn) -> str:
    replied = turn.replied
    words = "no answer was recorded"
    if replied:
        usage = counted(turn)
        tokens = "tokens unknown"
        if usage is not None:
            tokens = f"{usage.get('input_tokens')} in, {usage.get('output_tokens')} out"
        words = f"{text_of(replied, 'answered')}, {tokens}"
    parts = [(text_of(m, "role"), text_of(m, "content")) for m in turn.new]
    name = "prompt" if turn.afresh else "new in the prompt"
    shown = [(f"{name}: {role}", text) for role, text in parts]
    shown += [("reasoning", text_of(replied, "reasoning")), ("answer", text_of(replied, "text"))]
    shown += [("call", _json(call)) for call in maps(replied.get("tool_calls"))]
    shown += [("broken call", _json(call)) for call in maps(replied.get("bad_calls"))]
    shown += [("note", str(note)) for note in _list(replied.get("notes"))]
    state = "" if replied and replied.get("finish") != "length" else "bad"
    return _details(f"{turn.place}: model", words, shown, state)


def _step(step: Event) -> str:
    call, seen = step.get("call"), step.get("observation")
    observation: Event = seen if isinstance(seen, Mapping) else {}
    name, given = "no call", ""
    if isinstance(call, Mapping):
        name, given = text_of(call, "name"), _arguments(call.get("arguments"))
    marks = [word for word in ("cut", "submitted") if observation.get(word)]
    marks += ["recovered from text"] if step.get("recovered") else []
    words = ", ".join([f"{step.get('seconds', 0)} s", *marks])
    shown = [("arguments", given), ("what it gave", text_of(observation, "text"))]
    title = f"step {step.get('step')}: {name}"
    return _details(title, words, shown, "" if observation.get("ok") else "bad")


def _event(event: Event) -> str:
    kind = text_of(event, "kind")
    words = next(
        (
            text_of(event, key)
            for key in ("reason", "problem", "outcome", "answer")
            if event.get(key)
        ),
        "",
    )
    state = ""
    if "passed" in event or "approved" in event:
        state = "good" if event.get("passed") or event.get("approved") else "bad"
    elif kind in ("episode_ended", "run_ended"):
        good = {text_of(event, "reason"), text_of(event, "outcome")} & _GOOD
        state = "good" if good else "bad"
    elif kind in ("fault", "candidate_refused", "repeated"):
        state = "bad"
    skipped = ("v", "n", "at", "thread", "kind")
    shown = [
        (key, value if isinstance(value, str) else _json(value))
        for key, value in event.items()
        if key not in skipped and value not in ("", None, [], {})
    ]
    return _details(f"{kind.replace('_', ' ')}", words[:200], shown, state)


def _details(title: str, words: str, shown: list[tuple[str, str]], state: str) -> str:
    parts = "".join(
        f"<h3>{_safe(name)}</h3><pre>{_safe(text)}</pre>" for name, text in shown if text
    )
    mark = f' class="{state}"' if state else ""
    head = f"<b>{_safe(title)}</b> <i>{_safe(words)}</i>"
    body = f'<div class="body">{parts}</div>'
    return f"<li><details{mark}><summary>{head}</summary>{body}</details></li>"


def _safe(text: str) -> str:
    """Text that is text: escaped, bounded, control characters shown."""
    if len(text) > MOST_CHARS:
        more = f"[... {len(text) - MOST_CHARS:,} characters more stand in the trace]"
        text = f"{text[:MOST_CHARS]}\n{more}"
    text = text.encode("utf-8", "replace").decode("utf-8")
    return escape(_HIDDEN.sub(lambda hit: f"\\u{ord(hit[0]):04x}", text))


def _arguments(value: Json) -> str:
    if not isinstance(value, Mapping):
        return _json(value)
    return "\n".join(
        f"{name}: {one if isinstance(one, str) else _json(one)}" for name, one in value.items()
    )


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list) else []


def _file(name: str) -> str:
    return (resources.files("agent_loop.trajectories") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
