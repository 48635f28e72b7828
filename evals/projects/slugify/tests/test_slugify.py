import pytest

from slugify import slugify
from slugify.core import shorten


def test_words_are_joined_by_dashes():
    assert slugify("Hello World") == "hello-world"


def test_other_separator():
    assert slugify("Hello big World", separator="_") == "hello_big_world"


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Crème brûlée", "creme-brulee"),
        ("Ångström", "angstrom"),
        ("naïve façade", "naive-facade"),
    ],
)
def test_accents_are_folded(text, slug):
    assert slugify(text) == slug


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("rock & roll", "rock-roll"),
        ("a -- b", "a-b"),
        ("what?! why...", "what-why"),
    ],
)
def test_dashes_are_collapsed(text, slug):
    assert slugify(text) == slug


def test_nothing_is_left_at_the_ends():
    assert slugify("...hello...") == "hello"
    assert slugify("!!!") == ""


def test_max_length_cuts_at_a_word():
    assert slugify("one two three", max_length=9) == "one-two"
    assert shorten("abcdef", 3) == "abc"
