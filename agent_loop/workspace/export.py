"""The difference of two folders as a patch."""

from collections.abc import Iterable

from agent_loop.workspace.patch import FileState, PatchRefused, write_patch
from agent_loop.workspace.tree import Tree


def changes_patch(before: Tree, after: Tree) -> bytes:
    """What changed between the clean copy of a project and the working copy.

    Raises:
        PatchRefused: a binary file or a symbolic link changed, or the patch fails its round trip.
    """
    links = {path: before.link(path) for path in before.symlinks}
    if links != {path: after.link(path) for path in after.symlinks}:
        raise PatchRefused("A symbolic link changed; changes.patch holds regular files only.")
    differing = [path for path in {*before, *after} if _differs(before, after, path)]
    return write_patch(states_of(before, differing), states_of(after, differing))


def _differs(before: Tree, after: Tree, path: str) -> bool:
    if path not in before or path not in after:
        return True
    if before.size(path) != after.size(path):
        return True
    if before.executable(path) != after.executable(path):
        return True
    return before[path] != after[path]


def states_of(tree: Tree, paths: Iterable[str] | None = None) -> dict[str, FileState]:
    """Contents and modes of some files of a tree, or of all."""
    wanted = tree if paths is None else paths
    return {
        path: FileState(data=tree[path], executable=tree.executable(path))
        for path in wanted
        if path in tree
    }
