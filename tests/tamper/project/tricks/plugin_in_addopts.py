"""The project's options load a plugin of the patch."""

from tamper_victim import WORDS

FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = "-p helper"\n',
    "helper.py": "def pytest_runtest_call(item):\n    item.obj = lambda *a: None\n    item.runtest = lambda: None\n\n\ndef pytest_collection_modifyitems(items):\n    items[:] = []\n\n\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0\n",
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
