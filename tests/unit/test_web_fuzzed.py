"""Made-up requests to every operation of both doors: no answer is a failure of ours.

`python -m tests.fakes.fuzzed 300` sends many more.
"""

from tests.fakes.fuzzed import both


def test_no_request_makes_a_door_fail(tmp_path):
    page, server = both(tmp_path, examples=1, under="/api/jobs")
    assert page.failures == server.failures == []
    assert (page.operations, server.operations) == (20, 7)
    assert page.requests > 60
    assert page.statuses[200] > 10
    assert server.statuses[200] > 0
