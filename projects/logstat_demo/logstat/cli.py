"""The command line."""

import argparse
import datetime
import sys
from collections import Counter

from logstat.lines import LEVELS, read


def main(arguments):
    """Exit code: 0, 1 where no line is left after filtering, 2 for bad input."""
    options = parser().parse_args(arguments)
    try:
        with open(options.file, encoding="utf-8") as file:
            lines = [line for line in read(file) if wanted(line, options)]
    except OSError as problem:
        print(f"{options.file}: {problem.strerror}", file=sys.stderr)
        return 2
    for row in most_frequent(lines, options.top) if options.top else by_level(lines):
        print(row)
    return 0


def parser():
    made = argparse.ArgumentParser(prog="logstat")
    made.add_argument("file")
    made.add_argument("--level", choices=LEVELS, default="debug", help="this level and above")
    made.add_argument("--since", type=datetime.date.fromisoformat, help="this day and later")
    made.add_argument("--top", type=int, default=0, help="the most frequent messages")
    return made


def wanted(line, options):
    if options.since and line.time.date() <= options.since:
        return False
    return line.level >= options.level


def by_level(lines):
    counted = Counter(line.level for line in lines)
    return [f"{level:<8}{counted[level]:>6}" for level in LEVELS if counted[level]]


def most_frequent(lines, count):
    """Most frequent first; equals in the order of the alphabet."""
    counted = Counter(line.message for line in lines)
    return [f"{number:>6}  {message}" for message, number in counted.most_common(count)]
