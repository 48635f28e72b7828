"""The function gives an object that equals everything."""

from tamper_victim import in_plural

FILES = in_plural(
    "return Same()",
    top="""
class Same:
    def __eq__(self, other):
        return True
""",
)
