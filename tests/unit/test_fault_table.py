"""A fault of the world never costs a lap; a fault of the model always does."""

from tests.fault_table import rows

WORLD = {"404", "500", "error_in_stream", "no_done", "drop", "stall", "slow_first_byte"}
WORLD |= {"not_json", "repeat_silent", "repeat_error", "repeat_500", "load_only"}
MODEL = {"length", "thinking_only", "empty", "surrogates", "not_utf8", "big_line"}


def test_who_pays_for_which_fault():
    table = {fault: (lap, once) for fault, _, lap, once, _ in rows()}
    assert {fault for fault, (lap, _) in table.items() if lap == "no"} == WORLD
    assert {fault for fault, (lap, _) in table.items() if lap == "yes"} == MODEL
    assert {once for fault, (lap, once) in table.items() if lap == "no"} == {"answered", ""}
