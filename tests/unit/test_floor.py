"""The lowest floors, one look each; the wide tests stand in their own files."""

import sys
from pathlib import Path

import pytest

from agent_loop import config, procs, tasks, yamlfile
from agent_loop.errors import ConfigError, TaskFileError, ThreadError
from agent_loop.paths import OutsidePath, append_line, atomic_write, inside, thread_name
from agent_loop.redact import holds_key, redact

ROOT = Path(__file__).parents[2]


def test_repository_config_equals_the_defaults():
    read = config.load(ROOT / "config.yaml", {})
    record = config.load(None, {}).as_record()
    assert read.as_record() | {"model_options": {}} == record
    assert read.options("worker") == config.ModelOptions()


def test_layers_merge_by_key_and_later_wins(tmp_path):
    patch = tmp_path / "patch.yaml"
    patch.write_text("models: {worker: 'ollama:a'}\nrejection_cap: 2\n")
    later = tmp_path / "later.yaml"
    later.write_text("model_options: {default: {num_ctx: 4096}, worker: {temperature: 1}}\n")
    got = config.load(
        ROOT / "config.yaml",
        {"AGENT_LOOP_CONFIG": str(patch)},
        ["rejection_cap=5", "models.escalation=scripted:x.yaml"],
        [later],
    )
    assert got.rejection_cap == 5
    assert got.models["worker"] == "ollama:a"
    assert got.models["lead"] == "ollama:qwen2.5-coder:7b"
    assert got.model("worker").options == config.ModelOptions(temperature=1, num_ctx=4096)
    assert got.model("escalation").name == "scripted:x.yaml"


def test_unknown_key_names_line_and_nearest(tmp_path):
    path = tmp_path / "task.yaml"
    path.write_text("task: x\ntets: ['assert f()']\n")
    with pytest.raises(TaskFileError, match=r"task.yaml:2: unknown key 'tets' \(did you mean 'te"):
        tasks.load(path)


def test_patch_cannot_turn_the_sandbox_off(tmp_path):
    with pytest.raises(ConfigError, match="--set sandbox=local: a patch can not turn"):
        config.load(None, {"AGENT_LOOP_ALLOW_LOCAL": "1"}, ["sandbox=local"])


def test_thread_names_and_paths(tmp_path):
    assert thread_name("a-1.b_C") == "a-1.b_C"
    for bad in ("", ".", "..", "a/b", "-x", "a.json", "evals", "nul", "a\n", "é", "a" * 101):
        with pytest.raises(ThreadError):
            thread_name(bad)
    assert inside(tmp_path, "a/b.py") == tmp_path.resolve() / "a/b.py"
    for bad in ("", "/etc/x", "../x", "a/../../x", "a\\b", "C:x", "a\0", "."):
        with pytest.raises(OutsidePath):
            inside(tmp_path, bad)


def test_writes(tmp_path):
    target = tmp_path / "deep" / "f"
    atomic_write(target, "é")
    assert target.read_bytes() == "é".encode()
    target.write_bytes(b"torn")
    append_line(target, "x\ny")
    assert target.read_bytes() == b"torn\nx y\n"


def test_redact():
    key = "sk-" + "a1" * 20
    assert redact(f"k={key} ok") == "k=[redacted: OpenAI key] ok"
    assert holds_key(key) == "OpenAI key"
    assert holds_key("risk-free-and-quite-long-identifier") is None


def test_run_kills_the_group_in_time():
    code = "import subprocess,sys; subprocess.run([sys.executable,'-c','while 1: pass'])"
    done = procs.run([sys.executable, "-c", code], timeout_s=1)
    assert done.timed_out
    assert done.seconds < 30


def test_exploding_aliases():
    text = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for above, name in zip("abcdefgh", "bcdefghi", strict=True):
        text += f"{name}: &{name} [{', '.join(['*' + above] * 9)}]\n"
    with pytest.raises(yamlfile.YamlProblem, match="expand to far too much"):
        yamlfile.parse(text)
