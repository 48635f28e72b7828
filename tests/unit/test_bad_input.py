"""What bad input gets: where, what and the fix. The table of DESIGN 13 for tasks and settings."""

# ruff: noqa: E501 - one case a line reads as the table it is

import argparse
import os
from pathlib import Path

import pytest

from agent_loop import config, tasks
from agent_loop.assemble.judging import refuse_unjudgeable
from agent_loop.errors import ConfigError, TaskFileError
from agent_loop.paths import named

ROOT = Path(__file__).parents[2]

BAD_TASKS = {
    "empty file": (b"", "t.yaml: the file is empty. See tasks/fizzbuzz.yaml for an example."),
    "only blanks and a comment": (b"  \n# nothing\n", "t.yaml: the file is empty."),
    "byte-order mark only": (b"\xef\xbb\xbf", "t.yaml: the file is empty."),
    "a list, not a map": (b"- a\n", "t.yaml:1: the file must be a map of 'key: value' lines."),
    "a bare word": (b"hello\n", "t.yaml:1: the file must be a map of 'key: value' lines."),
    "wrong type: task": (b"tests: ['assert f()']\ntask: 12\n", "t.yaml:2: 'task' must be text, not a whole number (12)."),
    "wrong type: tests": (b"task: x\ntests: assert f()\n", "t.yaml:2: 'tests' must be a list, not text ('assert f()')."),
    "wrong type: one test": (b"task: x\ntests:\n- assert f()\n- {a: 1}\n", "t.yaml:4: 'tests[1]' must be text, not a map (put text that holds ': ' in quotes, or under '- |')."),
    "test is a map by mistake": (b"task: x\ntests:\n  - assert f({'a': 1}) == {'b': 2}\n", "t.yaml:3: the file is not valid YAML: mapping values are not allowed in this context (put text that holds ': ' in quotes)."),
    "unknown key": (b"task: x\ntests: ['assert f()']\nhiden_tests: []\n", "t.yaml:3: unknown key 'hiden_tests' (did you mean 'hidden_tests'?)"),
    "unknown key, nothing near": (b"task: x\nzzz: 1\n", "t.yaml:2: unknown key 'zzz' (known: helpers, hidden_tests, isolation, name, task, tests, type)."),
    "missing key": (b"task: x\n", "t.yaml:1: 'tests' is missing."),
    "no tests": (b"task: x\ntests: []\n", "t.yaml:2: 'tests' is empty; give at least one assert, e.g. 'assert f(1) == 2'."),
    "test without assert": (b"task: x\ntests: ['f(1) == 2']\n", "t.yaml:2: 'tests[0]' holds no assert, so it can never fail."),
    "test is no Python": (b"task: x\ntests: ['assert f(']\n", "t.yaml:2: 'tests[0]' is not valid Python: '(' was never closed."),
    "blank task": (b"task: '  '\ntests: ['assert f()']\n", "t.yaml:1: 'task' is empty; say in words what is wanted."),
    "unknown type": (b"type: reserch\ntask: x\n", "t.yaml:1: unknown type 'reserch' (did you mean 'research'?)"),
    "wrong isolation": (b"task: x\ntests: ['assert f()']\nisolation: none\n", "t.yaml:3: 'isolation' must be one of 'separate' or 'shared', not text ('none')."),
    "name with /": (b"name: a/b\ntask: x\ntests: ['assert f()']\n", "t.yaml:1: 'name' must be 1 to 60 letters, digits, '.', '_' or '-' (no '/'), not 'a/b'."),
    "binary": (b"task: x\ntests:\0\1\2\n", "t.yaml:2: the file is a binary file, not text (or not saved as UTF-8)."),
    "UTF-16": ("task: x\n".encode("utf-16"), "t.yaml:1: the file is a binary file, not text (or not saved as UTF-8)."),
    "invalid UTF-8": (b"task: x\n# caf\xe9\n", "t.yaml:2: the file holds bytes that are not UTF-8; save it as UTF-8."),
    "control characters": (b"task: x\x07\n", "is not valid YAML"),
    "duplicate key": (b"task: x\ntests: ['assert f()']\ntask: y\n", "t.yaml:3: key 'task' stands here again (first on line 1)."),
    "broken YAML": (b"task: x\ntests: [a, b\n", "is not valid YAML"),
    "tab indent": (b"task: x\ntests:\n\t- a\n", "t.yaml:3: the file is not valid YAML: found character that cannot start any token (it is a tab: YAML is indented with spaces)."),
    "text that starts with @": (b"task: @f\n", "(text that starts with '@' goes in quotes)."),
    "key indented too far": (b"task: x\n tests: []\n", "t.yaml:2: the file is not valid YAML: mapping values are not allowed in this context (the line is indented further than the one it belongs to)."),
    "quotes inside quotes": (b'task: x\ntests:\n  - "f("a") == 1"\n', "text with quotes inside goes under '- |')."),
    "quote never closed": (b"task: 'x\ntests: []\n", "(a quote is never closed)."),
    "text that starts with *": (b"task: *f\n", "(text that starts with '*' goes in quotes)."),
    "list beside its key": (b"task: x\ntests: - assert f()\n", "(put '- ' on a line of its own)."),
    "backslash in double quotes": (b'task: "\\d"\n', "(single quotes take a backslash as it is)."),
    "cut off by a comment": (b"task: x\ntests:\n  - assert f('a #b')\n", "t.yaml:3: 'tests[0]' is not valid Python: unterminated string literal (detected at line 1) (YAML ends text at ' #': write it under '- |')."),
    "pytest.raises": (b"task: x\ntests:\n- |\n  with pytest.raises(ValueError):\n    f()\n", "t.yaml:3: 'tests[0]' holds no assert, so it can never fail (an error is expected with try, except, else: assert False)."),
    "assert of a tuple": (b"task: x\ntests: ['assert (f() == 1, 2)']\n", "t.yaml:2: 'tests[0]' asserts a tuple, which is always true; take the brackets away."),
    "asserts in a function nobody calls": (b"task: x\ntests:\n- |\n  def test_f():\n    assert f()\n", "t.yaml:3: 'tests[0]' has its asserts in test_f(), which nothing calls; call it, or write them without a function."),
    "project without its type": (b"task: x\nproject: .\n", "t.yaml:2: 'project' belongs to another kind of task; add 'type: project'."),
    "query without its type": (b"task: x\nquery: y\n", "t.yaml:2: 'query' belongs to another kind of task; add 'type: research'."),
    "example of its own kind": (b"type: project\ntask: x\n", "t.yaml:1: 'project' is missing. See tasks/fix_slugify.yaml for an example."),
    "huge": (b"task: x\n#" + b"a" * (1 << 20), "t.yaml: the file is larger than 1,048,576 bytes."),
    "deep": (b"task: " + b"[" * 5000, "t.yaml:1: the file is nested more than 50 levels deep."),
    "own tag": (b"task: !!python/object/apply:os.system ['true']\n", "t.yaml:1: the file holds the tag 'tag:yaml.org,2002:python/object/apply:os.system'; plain YAML only."),
    "local tag on text": (b"task: !secret x\n", "t.yaml:1: the file holds the tag '!secret'; plain YAML only."),
    "merge key": (b"a: &a {task: x}\n<<: *a\n", "t.yaml:2: the file holds a merge key '<<'; write the keys out."),
    "key is a number": (b"task: x\n1: y\n", "t.yaml:2: the file holds a key that is not text; put it in quotes."),
    "alias in itself": (b"task: &a [*a]\n", "t.yaml:1: the file holds an alias that contains itself."),
    "two documents": (b"task: x\n---\ntask: y\n", "is not valid YAML"),
    "project without folder": (b"type: project\ntask: x\nproject: ../nowhere\n", "nowhere, which does not exist."),
    "a name too long: project": (b"type: project\ntask: x\nproject: " + b"a" * 300 + b"\n", "t.yaml:3: 'project' is no path: File name too long."),
    "a name too long: hidden tests": (b"type: project\ntask: x\nproject: .\nhidden_tests: " + b"a" * 300 + b"\n", "t.yaml:4: 'hidden_tests' is no path: File name too long."),
    "a type of several lines": (b'type: "a\\nb"\ntask: x\n', r"t.yaml:1: unknown type 'a\nb' (known: code, project, research)"),
    "a type without end": (b"type: " + b"a" * 5000 + b"\ntask: x\n", "t.yaml:1: unknown type 'aaaa"),
    "a key without end": (b"task: x\n" + b"a" * 900 + b": 1\n", "t.yaml:2: unknown key 'aaaa"),
    "project is a file": (b"type: project\ntask: x\nproject: t.yaml\n", "t.yaml:3: 'project' must be a folder, and"),
    "requirement not pinned": (b"type: project\ntask: x\nproject: .\nrequirements: [six]\n", "t.yaml:4: 'requirements[0]' must be pinned, e.g. six==1.17.0, not 'six'."),
    "too many papers": (b"type: research\ntask: x\nquery: y\nmax_papers: 31\n", "t.yaml:4: 'max_papers' must be less than or equal to 30, not a whole number (31)."),
    "yes is no boolean": (b"type: project\ntask: x\nproject: .\nallow_test_edits: yes\n", "t.yaml:4: 'allow_test_edits' must be true or false, not text ('yes')."),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_TASKS)
def test_bad_task_file(name, tmp_path):
    raw, message = BAD_TASKS[name]
    path = tmp_path / "t.yaml"
    path.write_bytes(raw)
    with pytest.raises(TaskFileError) as caught:
        tasks.load(path)
    assert message in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000


def test_exploding_anchors(tmp_path):
    text = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for above, name in zip("abcdefgh", "bcdefghi", strict=True):
        text += f"{name}: &{name} [{', '.join(['*' + above] * 9)}]\n"
    path = tmp_path / "t.yaml"
    path.write_text(text)
    with pytest.raises(TaskFileError, match=r"aliases .* expand to far too much"):
        tasks.load(path)


def test_long_text_repeated_by_aliases(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(f"task: &a {'x' * 500_000}\ntests: [{', '.join(['*a'] * 50)}]\n")
    with pytest.raises(TaskFileError, match="expand to far too much"):
        tasks.load(path)


def test_a_few_aliases_are_fine(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text("task: x\ntests: &t ['assert f() == 1']\nhidden_tests: *t\n")
    assert tasks.load(path).hidden_tests == ("assert f() == 1",)


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(TaskFileError, match="does not exist"):
        tasks.find([tmp_path / "no.yaml"])
    with pytest.raises(TaskFileError, match=r"holds no \.yaml file"):
        tasks.find([tmp_path])
    (tmp_path / "fizzbuzz.yaml").write_text("")
    with pytest.raises(TaskFileError, match=r"Did you mean .*fizzbuzz\.yaml\?"):
        tasks.find([tmp_path / "fizbuzz.yaml"])
    with pytest.raises(TaskFileError, match="is a folder"):
        tasks.load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "p.yaml")
    with pytest.raises(TaskFileError, match="is not a regular file"):
        tasks.load(tmp_path / "p.yaml")


def test_find_takes_folders_and_files_once(tmp_path):
    for name in ("b.yaml", "a.yml", "c.txt"):
        (tmp_path / name).write_text("task: x\n")
    found = tasks.find([tmp_path / "b.yaml", tmp_path])
    assert [p.name for p in found] == ["b.yaml", "a.yml"]


BAD_CONFIGS = {
    "empty file": ("", "c.yaml: the configuration is empty. See config.yaml for every key."),
    "unknown key": ("rejection_kap: 3\n", "c.yaml:1: unknown key 'rejection_kap' (did you mean 'rejection_cap'?)"),
    "unknown option": ("model_options:\n  worker:\n    temperatur: 1\n", "c.yaml:3: unknown key 'model_options.worker.temperatur' (did you mean 'temperature'?)"),
    "unknown role": ("models:\n  lead: ollama:a\n  wroker: ollama:a\n", "c.yaml:3: unknown key 'models.wroker' (did you mean 'worker'?)"),
    "unknown role of options": ("model_options: {wrker: {}}\n", "c.yaml:1: unknown key 'model_options.wrker' (did you mean 'worker'?)"),
    "unknown provider": ("models: {lead: olama:a}\n", "c.yaml:1: 'models.lead' names the unknown provider 'olama' (did you mean 'ollama'?)"),
    "no provider": ("models: {lead: qwen}\n", "c.yaml:1: 'models.lead' must be provider:model, e.g. ollama:qwen3:8b, not 'qwen'"),
    "wrong type": ("rejection_cap: three\n", "c.yaml:1: 'rejection_cap' must be a whole number, not text ('three')"),
    "true is no number": ("rejection_cap: true\n", "c.yaml:1: 'rejection_cap' must be a whole number, not true or false (True)"),
    "1.0 is no whole number": ("rejection_cap: 1.5\n", "c.yaml:1: 'rejection_cap' must be a whole number, not a number (1.5)"),
    "number in quotes": ("rejection_cap: '3'\n", "c.yaml:1: 'rejection_cap' must be a whole number, not text ('3')"),
    "out of range": ("rejection_cap: 0\n", "c.yaml:1: 'rejection_cap' must be greater than or equal to 1, not a whole number (0)"),
    "infinite": ("check: {call_s: .inf}\n", "c.yaml:1: 'check.call_s' must be a finite number"),
    "image by tag": ("sandbox_image: python:3.12\n", "c.yaml:1: 'sandbox_image' must name an image by digest or id (sha256:<64 hex digits>), never by tag: 'python:3.12'"),
    "map where text belongs": ("fallback: {a: b}\n", "c.yaml:1: 'fallback' must be text, not a map"),
    "duplicate": ("retries: 1\nretries: 2\n", "c.yaml:2: the configuration key 'retries' stands here again (first on line 1)"),
    "role missing": ("models: {lead: null, worker: null}\n", "c.yaml:1: 'models' has no line for lead and worker, e.g. lead: "),
    "reasoning": ("model_options: {default: {reasoning: maybe}}\n", "c.yaml:1: 'model_options.default.reasoning' must be true or false or 'low', 'medium' or 'high', not text ('maybe')"),
    "base url": ("base_urls: {ollama: localhost}\n", "c.yaml:1: 'base_urls.ollama' must start with http:// or https://, not 'localhost'"),
    "variant": ("prompt_variants: [no_plans]\n", "c.yaml:1: 'prompt_variants[0]' must be one of 'real_path_example', 'no_plan' or 'worked_example', not text ('no_plans')"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_CONFIGS)
def test_bad_configuration(name, tmp_path):
    text, message = BAD_CONFIGS[name]
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        config.load(path, {})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rejection_cap", "--set rejection_cap: is not KEY=VALUE. Example: --set rejection_cap=5"),
        ("=1", "--set =1: is not KEY=VALUE"),
        ("a..b=1", "--set a..b=1: is not KEY=VALUE"),
        ("rejektion_cap=1", "--set rejektion_cap=1: unknown key 'rejektion_cap' (did you mean"),
        ("rejection_cap=many", "--set rejection_cap=many: 'rejection_cap' must be a whole number"),
        ("model_options.worker.top_k=1", "unknown key 'model_options.worker.top_k'"),
        ("rejection_cap=[1", "--set rejection_cap=[1: the value is not valid YAML"),
        ("sandbox=local", "--set sandbox=local: a patch can not turn the sandbox off"),
        ("sandbox=", "a patch can not turn the sandbox off"),
        ("sandbox.kind=local", "a patch can not turn the sandbox off"),
        ("sandbox_limits.allow_local=true", "unknown key 'sandbox_limits.allow_local'"),
    ],
)
def test_bad_set(text, message):
    with pytest.raises(ConfigError) as caught:
        config.load(ROOT / "config.yaml", {"AGENT_LOOP_ALLOW_LOCAL": "1"}, [text])
    assert message in str(caught.value)


def test_the_wrong_layer_is_blamed(tmp_path):
    base, patch = tmp_path / "base.yaml", tmp_path / "patch.yaml"
    base.write_text("model_options:\n  worker:\n    num_ctx: 4096\n")
    patch.write_text("retries: 1\nmodel_options:\n  worker:\n    num_ctx: few\n")
    with pytest.raises(ConfigError, match=r"patch\.yaml:4: 'model_options\.worker\.num_ctx'"):
        config.load(base, {"AGENT_LOOP_CONFIG": str(patch)})
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: the configuration does not exist"):
        config.load(base, {"AGENT_LOOP_CONFIG": str(tmp_path / "nowhere.yaml")})


def test_local_sandbox_has_two_locks(tmp_path):
    base = tmp_path / "base.yaml"
    base.write_text("sandbox: local\n")
    with pytest.raises(ConfigError, match=r"base\.yaml:1: 'sandbox: local' runs .* needs AGENT_"):
        config.load(base, {})
    with pytest.raises(ConfigError, match="needs AGENT_LOOP_ALLOW_LOCAL=1"):
        config.load(base, {"AGENT_LOOP_ALLOW_LOCAL": "yes"})
    opened = config.load(base, {"AGENT_LOOP_ALLOW_LOCAL": "1"}).sandbox_settings
    assert (opened.kind, opened.allow_local) == ("local", True)
    assert config.load(None, {}).sandbox_settings.allow_local is False
    for patch in ("sandbox: local\n", "sandbox: null\n", "sandbox: {a: 1}\n"):
        over = tmp_path / "over.yaml"
        over.write_text(patch)
        with pytest.raises(ConfigError, match=r"over\.yaml:1: a patch can not turn"):
            config.load(base, {"AGENT_LOOP_ALLOW_LOCAL": "1"}, [], [over])


def test_no_secret_in_the_record():
    env = {"OPENAI_API_KEY": "sk-" + "a1" * 20}
    got = config.load(None, env, ["base_urls.openai='http://me:hunter22@host/v1'"])
    assert got.model("worker").api_key is None
    got = config.load(None, env, ["models.worker=openai:m"])
    assert got.model("worker").api_key.get_secret_value() == env["OPENAI_API_KEY"]
    assert "sk-a1" not in repr(got) + str(got.as_record()) + repr(got.model("worker"))
    with_login = config.load(None, env, ["base_urls.openai='http://me:hunter22@host/v1'"])
    assert "hunter22" not in str(with_login.as_record())


def test_escalation_can_be_taken_away(tmp_path):
    base = tmp_path / "base.yaml"
    base.write_text(
        "models: {lead: 'ollama:a', worker: 'ollama:a', reviewer: 'ollama:a', escalation: 'ollama:b'}\n"
    )
    assert config.load(base, {}).models["escalation"] == "ollama:b"
    assert "escalation" not in config.load(base, {}, ["models.escalation=null"]).models


def test_hash_follows_what_is_said():
    plain = config.load(None, {})
    assert plain.hash() == config.load(None, {"OPENAI_API_KEY": "x"}).hash()
    assert plain.hash() != config.load(None, {}, ["retries=1"]).hash()


def test_a_function_of_asserts_that_another_entry_calls_is_no_mistake(tmp_path):
    path = tmp_path / "t.yaml"
    calls = "tests:\n- |\n  def once(n):\n    assert f(n) == n\n- assert once(1) is None\n"
    path.write_text(f"task: x\n{calls}")
    assert len(tasks.load(path).tests) == 2


def test_asserts_about_nothing_are_told_to_call_the_solution(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text("task: x\ntests: [assert 1 + 1 == 2]\n")
    with pytest.raises(TaskFileError, match="Let each assert call what the task asks for"):
        refuse_unjudgeable(tasks.load(path))


@pytest.mark.parametrize("text", ["a" * 300, "x/" + "a" * 300, "a\0b", "circle"])
def test_a_path_that_no_system_has_is_refused_by_every_door(text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "circle").symlink_to("circle")
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=named)
    with pytest.raises(SystemExit) as left:
        parser.parse_args(["--out", text])
    assert left.value.code == 2
    assert "is no path" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["gone", "gone/deep", "file/below", "-", ".", "é"])
def test_control_a_path_that_is_not_there_yet_is_one(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert named(text) == Path(text)


def test_every_door_takes_paths_so():
    doors = [one.read_text("utf-8") for one in (ROOT / "agent_loop").rglob("*.py")]
    assert not [one for one in doors if "type=Path" in one]
    assert sum("type=named" in one for one in doors) >= 9
