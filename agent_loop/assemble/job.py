"""A task and its configuration as the job of a run."""

from agent_loop import tasks
from agent_loop.config import Config
from agent_loop.graph.parts import Job, Limits
from agent_loop.prompts import Brief
from agent_loop.tasks import CodeTask, Task

CHARS_PER_TOKEN = 3
"""Few enough for code and English in every tokenizer seen; prompts are measured before sending."""
MIN_PROMPT_CHARS = 1_500


def job_of(task: Task, config: Config, limits: Limits | None) -> Job:
    """What the graph keeps of a run, so that a later process can go on with it."""
    return Job(
        brief=Brief(
            kind=task.kind,
            task=task.task,
            tests=task.tests if isinstance(task, CodeTask) else (),
        ),
        name=task.name,
        task_hash=task.source_hash,
        test_hash=tasks.test_hash(task),
        task=tasks.to_record(task),
        config=config.as_record(),
        config_hash=config.hash(),
        rejection_cap=config.rejection_cap,
        samples=config.samples,
        limits=limits or Limits(),
        prompt_variants=config.prompt_variants,
        prompt_chars=prompt_chars(config),
    )


def prompt_chars(config: Config) -> int:
    """Longest prompt in characters: what the configuration allows and every model has room for."""
    rooms = (config.model(role).options for role in config.models)
    room = min((o.num_ctx - o.num_predict for o in rooms), default=config.max_context_chars)
    return max(MIN_PROMPT_CHARS, min(config.max_context_chars, room * CHARS_PER_TOKEN))
