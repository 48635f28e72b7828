import pytest

from slugify import slugify


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Žlutý? É!", "zluty-e"),
        ("  São   Tomé  ", "sao-tome"),
        ("--a--b--", "a-b"),
        ("1 + 1 = 2", "1-1-2"),
    ],
)
def test_other_titles(text, slug):
    assert slugify(text) == slug


def test_other_separator_and_length():
    assert slugify("Crème & brûlée", separator="_") == "creme_brulee"
    assert slugify("über & über", max_length=6) == "uber"
