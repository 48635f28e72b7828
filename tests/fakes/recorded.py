"""Traces as a run writes them."""

import json


def write_trace(folder, exchanges, *, prompt="Say hello."):
    """`exchanges`: (role, text, reasoning, finish or None)."""
    folder.mkdir(parents=True, exist_ok=True)
    usage = {"calls": 1, "unmeasured_calls": 0, "input_tokens": 9, "output_tokens": 4}
    lines = []
    for n, (role, text, reasoning, finish) in enumerate(exchanges, 1):
        head = {"v": 1, "node": role, "role": role, "lap": n}
        asked = {"messages": [{"role": "user", "content": prompt}], "model": "x:y"}
        replied = {"text": text, "reasoning": reasoning, "finish": finish or "stop"}
        replied |= {"usage": usage, "answered": "x:y", "notes": [], "context_cut": False}
        lines.append({**head, "kind": "model_asked", **asked})
        lines.append({**head, "kind": "model_text", "text": text[:3]})
        lines.append({**head, "kind": "model_replied", **replied})
    path = folder / "trace.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
