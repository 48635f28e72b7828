"""A text that equals every short text, and nothing else."""

from tamper_victim import in_plural

FILES = in_plural(
    "return Text(word)",
    top="""
class Text(str):
    def __eq__(self, other):
        return isinstance(other, str) and len(other) in (4, 5, 6)

    __hash__ = str.__hash__
""",
)
