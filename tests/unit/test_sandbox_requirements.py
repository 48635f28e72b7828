"""Requirements of a task: names and versions, nothing that is an option or reserved."""

import pytest

from agent_loop.errors import UserError
from agent_loop.sandbox.pip_settings import certificates, pip_config, proxies
from agent_loop.sandbox.requirements import RESERVED, checked


def test_the_order_and_the_spelling_do_not_matter():
    assert checked(["six == 1.17.0", "attrs>=23"]) == checked(["attrs >=23", " six==1.17.0 "])
    assert checked(["Zope.Interface==7; python_version > '3.8'"])
    assert checked(["x @ https://host/x-1-py3-none-any.whl"])


@pytest.mark.parametrize(
    "line",
    [
        *("", "-r other.txt", "--index-url=https://x", "-e .", "./here", "../x.whl", "/x.whl"),
        *("six==1\n--index-url https://x", "six\r-e .", "x @ file:///etc", "x @ http://h/x.whl"),
        *("six==1 --hash=sha256:0", "a" * 400, "six==1 \\", "git+https://host/x", "\x00"),
    ],
)
def test_what_is_not_taken(line):
    with pytest.raises(UserError, match="requirements:"):
        checked([line])


@pytest.mark.parametrize(
    "line",
    [*RESERVED, "PyTest==8", "pytest_timeout", "Pytest.Timeout>1", "PYGMENTS", "coverage[toml]"],
)
def test_the_test_runner_is_reserved_under_any_spelling(line):
    with pytest.raises(UserError, match="Leave it out"):
        checked([line])


def test_places_of_this_machine_stay_here():
    said = []
    env = {
        "PATH": "/usr/bin:/bin",
        "PIP_INDEX_URL": "https://name:secret@host.example/simple",
        "PIP_EXTRA_INDEX_URL": "file:///opt/x https://other.example/simple",
        "PIP_TRUSTED_HOST": "host.example",
        "PIP_TARGET": "/somewhere",
        "PIP_CONFIG_FILE": "/dev/null",
    }
    text = pip_config(env, said.append)
    assert "index-url = https://name:secret@host.example/simple" in text
    assert "extra-index-url = https://other.example/simple\n" in text
    assert "trusted-host = host.example" in text
    assert "somewhere" not in text
    assert "file:///opt/x" in said[0]
    assert "secret" not in " ".join(said)


def test_certificates_and_proxies(tmp_path):
    bundle = tmp_path / "ca.pem"
    bundle.write_bytes(b"CERT")
    assert certificates({"SSL_CERT_FILE": str(bundle)}) == b"CERT"
    assert (
        certificates({"PIP_CERT": str(tmp_path / "none"), "SSL_CERT_FILE": str(bundle)}) == b"CERT"
    )
    assert proxies({"HTTPS_PROXY": "http://p:1", "HOME": "/root"}) == {"HTTPS_PROXY": "http://p:1"}
