"""The door to processes: limits hold, groups die, nothing is left behind."""

import os
import sys
import time

import pytest

from agent_loop import procs

PY = sys.executable


def test_output_codes_and_input():
    code = "import sys; sys.stdout.write(sys.stdin.read()); sys.stderr.write('e'); sys.exit(3)"
    done = procs.run([PY, "-c", code], timeout_s=20, input=b"hello")
    assert (done.code, done.out, done.err, done.timed_out) == (3, b"hello", b"e", False)


def test_no_input_is_end_of_input():
    done = procs.run([PY, "-c", "print(len(input() if False else open(0).read()))"], timeout_s=20)
    assert done.out.strip() == b"0"


def test_a_child_that_does_not_read_its_input_does_not_block_us():
    done = procs.run([PY, "-c", "pass"], timeout_s=20, input=b"x" * (8 << 20))
    assert done.code == 0


def test_endless_output_is_cut_and_killed():
    code = "while True: print('x' * 1000)"
    done = procs.run([PY, "-c", code], timeout_s=20, max_output_bytes=10_000)
    assert done.overflowed
    assert not done.timed_out
    assert len(done.out) == 10_000
    assert done.seconds < 15


@pytest.mark.skipif(os.name == "nt", reason="process groups")
def test_grandchildren_die_with_the_group(tmp_path):
    mark = tmp_path / "alive"
    grandchild = f"import time,pathlib; time.sleep(1.5); pathlib.Path({str(mark)!r}).touch()"
    code = f"import subprocess,sys; subprocess.Popen([sys.executable,'-c',{grandchild!r}])"
    assert procs.run([PY, "-c", code], timeout_s=20).code == 0
    time.sleep(2)
    assert not mark.exists()


def test_a_missing_program_is_an_os_error():
    with pytest.raises(OSError, match="no-such-program"):
        procs.run(["no-such-program"], timeout_s=1)


def test_a_shell_line_is_only_an_argument(tmp_path):
    done = procs.run([PY, "-c", "import sys; print(sys.argv[1])", "; touch x"], timeout_s=20)
    assert done.out.strip() == b"; touch x"


def test_a_child_is_talked_to_and_killed():
    code = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
    with procs.start([PY, "-u", "-c", code]) as child:
        os.write(child.stdin, b"abc\n")
        assert os.read(child.stdout, 100) == b"ABC\n"
        assert child.poll() is None
        child.kill()
        assert child.wait(10) is not None
        child.kill()


def test_the_environment_is_what_was_given():
    done = procs.run([PY, "-I", "-c", "import os; print(os.environ.get('A'))"], timeout_s=20,
                     env={"A": "1"})  # fmt: skip
    assert done.out.strip() == b"1"
