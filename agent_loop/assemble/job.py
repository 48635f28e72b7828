"""A task and its configuration as the job of a run."""

from agent_loop import tasks
from agent_loop.config import Config
from agent_loop.graph.parts import Job, Limits
from agent_loop.prompts import Brief
from agent_loop.tasks import CodeTask, Task


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
        limits=limits or Limits(),
        prompt_variants=config.prompt_variants,
        prompt_chars=config.max_context_chars,
    )
