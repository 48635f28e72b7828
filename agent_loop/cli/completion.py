"""`--completion SHELL`: a script that completes options, choices and the names of runs.

The script is text made from the parser itself, so it cannot know other options than the program.
It asks nothing of Python while one types: thread names are the records in `runs/`.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from agent_loop.terminal.screen import Screen

SHELLS = ("bash", "zsh", "fish")
_NAMES = ("agent-loop", "loop.py", "./loop.py")
_BASH = """# agent-loop completion for {shell}: eval "$(agent-loop --completion {shell})"
{zsh}_agent_loop() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" runs file
    COMPREPLY=()
    case "$before" in
        {threads})
            runs=""
            for file in runs/*.json; do
                [ -e "$file" ] && file="${{file##*/}}" && runs="$runs ${{file%.json}}"
            done
            COMPREPLY=($(compgen -W "$runs" -- "$word")); return ;;
{choices}        {files})
            COMPREPLY=($(compgen -f -- "$word")); return ;;
        {free})
            return ;;
    esac
    case "$word" in
        -*) COMPREPLY=($(compgen -W "{options}" -- "$word")) ;;
        *) COMPREPLY=($(compgen -d -- "$word") $(compgen -f -X '!*.y*ml' -- "$word")) ;;
    esac
}}
complete -o filenames -F _agent_loop {names}
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One option as a shell sees it."""

    names: tuple[str, ...]
    help: str
    wants: str
    """`` (no value), `thread`, `file`, `choice` or `text`."""
    choices: tuple[str, ...] = ()


def write_completion(shell: str, parser: argparse.ArgumentParser, screen: Screen) -> int:
    """Print the script of a shell."""
    screen.result(script(shell, flags(parser)).rstrip())
    return 0


def flags(parser: argparse.ArgumentParser) -> list[Flag]:
    """Every option of a parser."""
    return [_flag(action) for action in parser._actions if action.option_strings]


def script(shell: str, given: Sequence[Flag]) -> str:
    """The text of `--completion SHELL`."""
    return _fish(given) if shell == "fish" else _bash(shell, given)


def _flag(action: argparse.Action) -> Flag:
    metavar = str(action.metavar or "")
    if action.nargs == 0:
        wants = ""
    elif action.choices:
        wants = "choice"
    elif metavar.startswith("THREAD"):
        wants = "thread"
    else:
        wants = "file" if "FILE" in metavar else "text"
    choices = tuple(map(str, action.choices or ()))
    text = " ".join((action.help or "").split())
    return Flag(names=tuple(action.option_strings), help=text, wants=wants, choices=choices)


def _bash(shell: str, given: Sequence[Flag]) -> str:
    def names(wants: str) -> str:
        found = [name for flag in given if flag.wants == wants for name in flag.names]
        return "|".join(found) or "--no-such-option"

    choices = "".join(
        f"        {'|'.join(flag.names)})\n"
        f'            COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" -- "$word")); return ;;\n'
        for flag in given
        if flag.choices
    )
    return _BASH.format(
        shell=shell,
        zsh=_ZSH if shell == "zsh" else "",
        threads=names("thread"),
        choices=choices,
        files=names("file"),
        free=names("text"),
        options=" ".join(name for flag in given for name in flag.names),
        names=" ".join(_NAMES),
    )


def _fish(given: Sequence[Flag]) -> str:
    runs = "(for f in runs/*.json; basename $f .json; end)"
    lines = ["# agent-loop completion for fish: agent-loop --completion fish | source"]
    for program in ("agent-loop", "loop.py"):
        for flag in given:
            words = [f"-l {name[2:]}" for name in flag.names if name.startswith("--")]
            words += [f"-s {name[1:]}" for name in flag.names if not name.startswith("--")]
            more = {
                "": "",
                "thread": f" -x -a '{runs}'",
                "file": " -r",
                "choice": f" -x -a '{' '.join(flag.choices)}'",
                "text": " -x",
            }[flag.wants]
            says = flag.help.replace("\\", "\\\\").replace("'", "\\'")
            lines.append(f"complete -c {program} {' '.join(words)}{more} -d '{says}'")
    return "\n".join(lines) + "\n"
