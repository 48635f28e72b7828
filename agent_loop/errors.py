"""Every error this project raises on purpose, in one tree.

AgentLoopError
├── UserError            the person can mend it: printed without a traceback, exit code 2
│   ├── BadOption        options that cannot be used, or not together
│   ├── TaskFileError    a task file is wrong
│   ├── ConfigError      config.yaml, a patch over it or a --set is wrong
│   ├── ThreadError      a thread is unknown, badly named, already there or driven elsewhere
│   ├── ReportError      an eval report is unknown, unreadable, or not comparable with another
│   └── MissingExtra     a feature needs packages that are installed with an extra
├── FaultError           the world around the model failed: stops the run, never costs a lap
│   ├── SandboxUnavailable   exit code 3
│   ├── ModelUnavailable     exit code 4: missing model, refused context, server down, retries spent
│   ├── SearchUnavailable    arXiv could not be asked, or what it answered is no list of papers
│   └── StoreFault           database or disk
├── ReplyError           the model's fault: becomes feedback and costs a lap
├── DeadlinePassed       judged code did not answer in time: a verdict, not a fault
└── Cancelled            somebody asked the work in hand to stop

Errors carry data and never log. A message says where, what and the fix.
"""


class AgentLoopError(Exception):
    """Base of everything raised on purpose."""

    exit_code = 1


class UserError(AgentLoopError):
    """Something the person gave us is wrong."""

    exit_code = 2


class BadOption(UserError):
    """Options that cannot be used, or not together."""


class TaskFileError(UserError):
    """A task file cannot be used."""

    def __init__(self, path: str, problem: str, fix: str = "") -> None:
        super().__init__(f"{path}: {problem}." + (f" {fix}" if fix else ""))
        self.path = path
        self.problem = problem
        self.fix = fix


class ConfigError(UserError):
    """The configuration cannot be used."""

    def __init__(self, where: str, problem: str, fix: str = "") -> None:
        super().__init__(f"{where}: {problem}." + (f" {fix}" if fix else ""))
        self.where = where
        self.problem = problem
        self.fix = fix


class ThreadError(UserError):
    """A thread id cannot be used as asked."""


class ReportError(UserError):
    """An eval report cannot be used as asked."""


class MissingExtra(UserError):
    """A feature needs packages that only an extra brings."""

    def __init__(self, extra: str, needs: str) -> None:
        super().__init__(f"{needs} is not installed. Say: pip install 'agent-loop[{extra}]'")
        self.extra = extra


class FaultError(AgentLoopError):
    """Not the model's fault and not the person's input: nothing was judged."""


class SandboxUnavailable(FaultError):
    """No container could be started, or the probe found a protection missing."""

    exit_code = 3


class ModelUnavailable(FaultError):
    """A model could not be asked."""

    exit_code = 4


class ServerDown(ModelUnavailable):
    """Nobody answers at the model server's address."""


class SearchUnavailable(FaultError):
    """No papers: arXiv is down, refuses, answers with something else, or found nothing."""


class StoreFault(FaultError):
    """The database or the disk refused."""


class ReplyError(AgentLoopError):
    """A reply cannot be used; the message is shown to the worker."""


class DeadlinePassed(AgentLoopError):
    """No answer from a session before its deadline."""


class Cancelled(AgentLoopError):
    """The work in hand was told to stop."""

    exit_code = 130
