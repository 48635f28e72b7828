"""A sample of the endurance suite, and controls that show what its mends are for."""

import time

import pytest
from langgraph.checkpoint.base import id as ids
from langgraph.checkpoint.sqlite import SqliteSaver

from tests.endurance.__main__ import main
from tests.endurance.faults import FAULTS

SAMPLE = ("kill-commits", "clock-back", "disk-full", "read-only", "image-lock", "model-server")


@pytest.mark.parametrize("name", SAMPLE)
def test_a_fault_is_survived_and_nothing_is_lost(name):
    try:
        found = FAULTS[name](True)
    except OSError as error:
        pytest.skip(str(error))
    if found.skipped:
        pytest.skip(found.skipped)
    assert found.tried
    assert (found.survived, found.lost) == (found.tried, 0), found.notes


def test_the_suite_can_be_gone_through_in_parts(tmp_path, capsys):
    path = tmp_path / "figures.json"
    path.write_text('{"parallel": {"what": "many at a time", "tried": 24, "survived": 24}}')
    for _ in range(2):
        assert main(["--only", "image-lock", "--quick", "--json", str(path)]) == 0
    rows = capsys.readouterr().out.splitlines()[-3:]
    assert rows == [
        "| image lock damaged | 9 | 9 | 0 | `--quick` |",
        "| many at a time | 24 | 24 | 0 |  |",
        "| **together** | **33** | **33** | **0** | |",
    ]
    path.write_text('{"parallel": {"what": "many at a time", "tried": 24, "survived": 23}}')
    assert main(["--only", "image-lock", "--quick", "--json", str(path)]) == 1


def test_without_the_mend_steps_after_a_set_back_clock_are_not_found(tmp_path, monkeypatch):
    """The control: what the library as it comes does when the clock goes back."""

    def put(saver, lap):
        checkpoint = {
            "v": 4, "id": str(ids.uuid6()), "ts": "", "channel_values": {"lap": lap},
            "channel_versions": {}, "versions_seen": {}, "updated_channels": None,
        }  # fmt: skip
        config = {"configurable": {"thread_id": "a", "checkpoint_ns": ""}}
        saver.put(config, checkpoint, {"source": "loop", "step": lap, "parents": {}}, {})
        return saver.get_tuple(config).checkpoint["channel_values"]["lap"]

    real = time.time_ns
    with SqliteSaver.from_conn_string(str(tmp_path / "x.sqlite")) as saver:
        assert put(saver, 1) == 1
        # Another process, a day earlier: nothing in it knows of the id before.
        monkeypatch.setattr(ids, "_last_v6_timestamp", None)
        monkeypatch.setattr(time, "time_ns", lambda: real() - 24 * 3600 * 10**9)
        assert put(saver, 2) == 1
