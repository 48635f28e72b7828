"""The working copy of a project: made, changed, compared, and written out as a patch."""

from agent_loop.workspace.copying import CopyReport, copy_project, manifest_path
from agent_loop.workspace.export import changes_patch, states_of
from agent_loop.workspace.fetching import fetch_source, unpack
from agent_loop.workspace.history import Commit, History
from agent_loop.workspace.history import opened as open_history
from agent_loop.workspace.patch import FileState, PatchRefused, write_patch
from agent_loop.workspace.survey import CopyLimits, LeftOut
from agent_loop.workspace.tree import Tree, file_digest
from agent_loop.workspace.writing import apply

__all__ = [
    "Commit",
    "CopyLimits",
    "CopyReport",
    "FileState",
    "History",
    "LeftOut",
    "PatchRefused",
    "Tree",
    "apply",
    "changes_patch",
    "copy_project",
    "fetch_source",
    "file_digest",
    "manifest_path",
    "open_history",
    "states_of",
    "unpack",
    "write_patch",
]
