"""`--prune`: says what would go; with `--yes` lets it go."""

from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from agent_loop.graph.prune import Cut, Pruning, plan, prune
from agent_loop.store import RunStore
from agent_loop.terminal.safe import one_line
from agent_loop.terminal.screen import Screen

_MANY = 60


def prune_runs(store: RunStore, screen: Screen, *, yes: bool, keep_mib: int | None) -> int:
    """One line for each thread, and the size of the database before and after.

    Raises:
        StoreFault: the database cannot be read or written.
    """
    keep_bytes = None if keep_mib is None else keep_mib << 20
    done = (prune if yes else plan)(store, keep_bytes=keep_bytes)
    if screen.as_json:
        screen.machine({**asdict(done), "freed_bytes": done.freed_bytes, "done": yes})
        return 0
    _tell(done, screen, yes=yes)
    return 0


def _tell(done: Pruning, screen: Screen, *, yes: bool) -> None:
    touched = [cut for cut in done.cuts if cut.rows]
    if touched:
        screen.show(_table(touched[:_MANY]))
    if len(touched) > _MANY:
        screen.say(f"... and {len(touched) - _MANY} more")
    for cut in done.cuts:
        if cut.kind in ("driven", "unreadable"):
            screen.result(f"{cut.thread}: {cut.why}", "yellow")
    if done.note:
        screen.result(done.note, "yellow")
    if done.after_bytes is not None:
        screen.result(f"{_kib(done.size_bytes)} before, {_kib(done.after_bytes)} now", "green")
    elif touched:
        screen.result(
            f"{len(touched)} of {len(done.cuts)} threads, about {_kib(done.freed_bytes)} of "
            f"{_kib(done.size_bytes)} would go. Nothing was changed: say --prune --yes to do it."
        )
    else:
        screen.result(f"nothing to prune: {len(done.cuts)} threads, {_kib(done.size_bytes)}")


def _table(cuts: list[Cut]) -> Table:
    table = Table("thread", "why", box=None, pad_edge=False, header_style="bold")
    for name in ("rows", "KiB that go", "KiB that stay"):
        table.add_column(name, justify="right")
    for cut in cuts:
        table.add_row(
            Text(one_line(cut.thread, 100)),
            Text(cut.why),
            f"{cut.rows:,}",
            f"{cut.freed_bytes / 1024:,.1f}",
            f"{cut.left_bytes / 1024:,.1f}",
        )
    return table


def _kib(size: int) -> str:
    return f"{size / 1024:,.0f} KiB"
