"""However the stream is cut, the same bytes come out."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from agent_loop.sandbox.session import ERR, OUT
from agent_loop.sandbox.wire import Demultiplexer

frames = st.lists(st.tuples(st.sampled_from([0, OUT, ERR]), st.binary(max_size=40)), max_size=8)


@given(frames, st.lists(st.integers(1, 30), max_size=40))
def test_any_cut_gives_the_same(sent, cuts):
    stream = b"".join(struct.pack(">BxxxL", kind, len(data)) + data for kind, data in sent)
    demultiplexer = Demultiplexer()
    found = {OUT: b"", ERR: b""}
    position = 0
    for size in [*cuts, len(stream) + 1]:
        for kind, data in demultiplexer.feed(stream[position : position + size]):
            found[kind] += data
        position += size
    assert found[OUT] == b"".join(data for kind, data in sent if kind != ERR)
    assert found[ERR] == b"".join(data for kind, data in sent if kind == ERR)


@given(st.binary(max_size=200))
def test_garbage_is_only_bytes(data):
    """A header of garbage announces up to 4 GiB; nothing is kept for it."""
    assert sum(len(part) for _, part in Demultiplexer().feed(data)) <= len(data)
