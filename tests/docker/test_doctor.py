"""`--doctor`: one line each, with the fix, and the code a run would end with."""

# ruff: noqa: E501 - a line of the doctor is a line here

import json

import pytest

from agent_loop import doctor

LOCAL = ["--set", "models.lead=scripted:s.yaml", "--set", "models.worker=scripted:s.yaml",
         "--set", "models.reviewer=scripted:s.yaml"]  # fmt: skip


@pytest.fixture
def look(tmp_path, monkeypatch, capsys):
    """Run the doctor in a folder of its own; (exit code, lines)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text("replies: []\n")

    def command(*arguments, env=None):
        code = doctor.main(["--doctor", *arguments], env or {})
        return code, capsys.readouterr().out.splitlines()

    return command


@pytest.mark.docker
def test_everything_is_well(look, base_image):
    code, lines = look(*LOCAL)
    assert code == 0
    seen = {line.split(":")[0] for line in lines}
    assert seen >= {f"ok    {what}" for what in
                    ("python", "disk", "database", "tracing", "models", "sandbox", "probe")}  # fmt: skip
    assert not [line for line in lines if line.startswith("WRONG")]
    assert sum(line.startswith("ok    probe: ") for line in lines) >= 10


@pytest.mark.docker
def test_json_lines(look, base_image):
    _, lines = look(*LOCAL, "--json")
    assert all(json.loads(line)["ok"] is not False for line in lines)


def test_no_engine_is_three_with_the_fix(look):
    code, lines = look(*LOCAL, env={"DOCKER_HOST": "unix:///nowhere.sock"})
    (wrong,) = (line for line in lines if line.startswith("WRONG"))
    assert code == 3
    assert wrong.startswith("WRONG sandbox: ")
    assert "/nowhere.sock" in wrong


def test_no_model_is_four_with_what_to_type(look):
    code, lines = look("--set", "base_urls.ollama=http://127.0.0.1:9", "--set", "fallback=null",
                       env={"DOCKER_HOST": "unix:///nowhere.sock"})  # fmt: skip
    assert code in (3, 4)
    assert any(line.startswith("WRONG models: ") and "ollama serve" in line for line in lines)


def test_a_stand_in_is_told(look):
    _, lines = look("--set", "base_urls.ollama=http://127.0.0.1:9", "--set",
                    "fallback=scripted:s.yaml", env={"DOCKER_HOST": "unix:///nowhere.sock"})  # fmt: skip
    assert any(
        line.startswith("note  models: ") and "Using scripted:s.yaml" in line for line in lines
    )
    assert "ok    models: worker: can be asked" in lines
    assert not any(line.startswith("ok    models:") and "ollama" in line for line in lines)


@pytest.mark.parametrize("name", ["LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"])
def test_tracing_variables_are_named(look, name):
    _, lines = look(*LOCAL, env={name: "true", "DOCKER_HOST": "unix:///nowhere.sock"})
    assert f"note  tracing: LangSmith: {name} is set; runs switch it off: nothing is sent" in lines


def test_a_broken_database_and_a_bad_setting(look, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "checkpoints.sqlite").write_bytes(b"no database" * 1000)
    code, lines = look(*LOCAL, env={"DOCKER_HOST": "unix:///nowhere.sock"})
    assert code == 3
    assert any(line.startswith("WRONG database: ") and "Move " in line for line in lines)
    code, lines = look("--set", "retries=many")
    assert code == 2
    assert lines == ["WRONG config: --set retries=many: 'retries' must be a whole number, not text "
                     "('many'). See config.yaml for every key and its meaning."]  # fmt: skip
