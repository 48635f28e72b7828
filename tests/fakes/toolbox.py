"""The tools over a working copy that is a dict: for tests of the loop, no container."""

from agent_loop.errors import Cancelled, DeadlinePassed, SandboxUnavailable
from agent_loop.ports import Observation, ToolSpec


def spec(name, description, **arguments):
    return ToolSpec(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in arguments.items()},
            "required": list(arguments),
            "additionalProperties": False,
        },
    )


STRUCTURED = (
    spec("view", "Show a file.", path="string"),
    spec("str_replace", "Change text that stands once.", path="string", old="string", new="string"),
    spec("create", "Write a file.", path="string", content="string"),
    spec("run_tests", "Run the tests."),
    spec("submit", "Say that you are done."),
)
BASH = (spec("bash", "Run a command.", command="string"), spec("submit", "Say that you are done."))


class MemoryToolbox:
    """A `Toolbox` whose files are `files`; `tests` says what the tests would."""

    def __init__(self, files, *, specs=STRUCTURED, tests=lambda files: "no tests", clock=None):
        self.files = dict(files)
        self.specs = specs
        self.left_out = ()
        self.calls = []
        self.closed = False
        self._tests = tests
        self._clock = clock

    def call(self, call, *, deadline, cancel=None):
        self.calls.append(call)
        if cancel is not None and cancel.is_set():
            raise Cancelled("the call was cancelled")
        try:
            return getattr(self, f"_{call.name}")(**call.arguments)
        except (KeyError, TypeError) as problem:
            return Observation(text=f"{call.name}: {problem!r}", ok=False)

    def tree(self):
        return dict(self.files)

    def close(self):
        self.closed = True

    def _view(self, path):
        return Observation(text=self.files[path].decode(), ok=True)

    def _create(self, path, content):
        self.files[path] = content.encode()
        return Observation(text=f"{path} is written", ok=True)

    def _str_replace(self, path, old, new):
        text = self.files[path].decode()
        if text.count(old) != 1:
            return Observation(text=f"stands {text.count(old)} times", ok=False)
        self.files[path] = text.replace(old, new).encode()
        return Observation(text="changed", ok=True)

    def _run_tests(self):
        return Observation(text=self._tests(self.files), ok=True)

    def _bash(self, command):
        match command.split():
            case ["sleep", seconds]:
                self._clock.sleep(float(seconds))
                return Observation(text="", ok=True)
            case ["late"]:
                raise DeadlinePassed("stopped after 1 s")
            case ["gone"]:
                raise SandboxUnavailable("the container is gone")
            case ["yes", count]:
                return Observation(text="y\n" * int(count), ok=True)
            case ["write", path, *words]:
                self.files[path] = " ".join(words).encode()
                return Observation(text="", ok=True)
        return Observation(text=f"$ {command}", ok=True)

    def _submit(self):
        return Observation(text="done", ok=True, submitted=True)
