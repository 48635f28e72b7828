"""Asks both web doors whatever their OpenAPI descriptions allow, and much that they do not.

`python -m tests.fakes.fuzzed 300` sends 300 made-up requests to every operation, twice: as they
are, and with names of runs, jobs and reports that exist.
"""

import contextlib
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from schemathesis.generation import GenerationMode

from agent_loop.dashboard.main import guarded
from agent_loop.graph.drive import start
from agent_loop.store import RunStore
from agent_loop.store.reports import write_report
from tests.fakes.dropped import job_server
from tests.fakes.reports import outcomes
from tests.fakes.runs import RIGHT, job, parts, wrong
from tests.fakes.webdoor import opened


@dataclass
class Asked:
    """What was answered."""

    operations: int = 0
    requests: int = 0
    statuses: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)
    unanswered: int = 0


def fill(runs):
    """Runs and reports, so that requests get beyond "not there"."""
    store = RunStore(runs)
    start("passed", job(), parts(worker=[wrong(1), RIGHT]), store)
    start("paused", job(rejection_cap=1), parts(worker=[wrong(1)]), store)
    (runs / "passed" / "changes.patch").write_text("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n")
    (runs / "evals").mkdir()
    for name in ("one", "two"):
        write_report(runs / "evals" / f"{name}.json", outcomes(name, {"a": "PF-", "b": "PPF"}))


def ask_everything(door, known, *, examples, start_with=1, under="/api"):
    """Every operation of the door's description; `known` has real values for path parameters."""
    asked = Asked()
    with door.client(headers=door.writing) as client:
        description = client.get("/api/openapi.json").json()
        schema = schemathesis.openapi.from_dict(description)
        for result in schema.get_all_operations():
            operation = result.ok()
            if not operation.path.startswith(under):
                continue
            asked.operations += 1
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                _ask(client, operation, mode, known, asked, examples, start_with)
    return asked


def _ask(client, operation, mode, known, asked, examples, start_with):
    try:
        strategy = operation.as_strategy(generation_mode=mode)
    except Exception:
        if mode is GenerationMode.POSITIVE:
            raise
        return  # nothing wrong can be said where there is nothing to say

    @seed(start_with)
    @settings(max_examples=examples, database=None, deadline=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(strategy)
    def send(case):
        _send(client, case, asked)
        real = {name: known[name] for name in case.path_parameters or {} if name in known}
        if real:
            case.path_parameters = {**case.path_parameters, **real}
            _send(client, case, asked)

    from hypothesis.errors import Unsatisfiable

    with contextlib.suppress(Unsatisfiable):
        send()


def _send(client, case, asked):
    kwargs = case.as_transport_kwargs(base_url=str(client.base_url).rstrip("/"))
    headers = {str(k): str(v) for k, v in (kwargs.get("headers") or {}).items()}
    headers |= {"Origin": client.headers["Origin"], "X-CSRF-Token": client.headers["X-CSRF-Token"]}
    url = kwargs["url"]
    body = kwargs.get("json")
    content = kwargs.get("data")
    if body is not None or "json" in kwargs:
        content = json.dumps(body).encode("utf-8", "replace")
        headers["Content-Type"] = "application/json"
    try:
        request = client.build_request(
            kwargs["method"], url, params=kwargs.get("params"), headers=headers,
            content=content if isinstance(content, bytes | str) else None,
        )  # fmt: skip
        answer = client.send(request, stream=True)
    except (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeError, TypeError, ValueError):
        asked.unanswered += 1  # no client can say this
        return
    with contextlib.closing(answer):
        asked.requests += 1
        asked.statuses[answer.status_code] += 1
        if answer.status_code >= 500:
            text = answer.read()[:500]
            asked.failures.append(
                (answer.status_code, request.method, str(request.url)[:300], text)
            )


def both(folder, *, examples, start_with=1, under="/api"):
    """(the dashboard, the job server under this address): what each answered."""
    folder = Path(folder)
    names = {"thread": "passed", "name": "one", "seq": 3, "job_id": "x"}
    runs = folder / "runs"
    runs.mkdir()
    fill(runs)
    with opened(lambda launch: guarded(runs, launch)) as door:
        page = ask_everything(door, names, examples=examples, start_with=start_with)
    with job_server(folder) as door:
        server = ask_everything(door, names, examples=examples, start_with=start_with, under=under)
    return page, server


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        chosen = int(sys.argv[2]) if len(sys.argv) > 2 else 1
        for found in both(made, examples=int(sys.argv[1]), start_with=chosen):
            print(found)
