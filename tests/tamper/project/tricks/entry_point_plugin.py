"""Package metadata in the tree makes a file of the patch a plugin."""

from tamper_victim import WORDS

FILES = {
    "helper.egg-info/entry_points.txt": "[pytest11]\nhelper = helper\n",
    "helper.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: helper\nVersion: 1\n",
    "helper.py": 'def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name == "test_title"]\n',
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
