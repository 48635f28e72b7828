"""Takes keys, tokens and private key blocks out of anything that is written down."""

import re

_KINDS: tuple[tuple[str, str], ...] = (
    (
        "private key block",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----).)*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|[A-Za-z0-9+/=\s\\]{0,8000})",
    ),
    ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    ("Stripe key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})"),
    ("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("AWS key id", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("Google key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("PyPI token", r"\bpypi-AgE[A-Za-z0-9_-]{40,}"),
    ("LangSmith key", r"\blsv2_(?:pt|sk)_[A-Za-z0-9_]{32,}"),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
)
_KEY = re.compile(
    "|".join(f"(?P<k{n}>{pattern})" for n, (_, pattern) in enumerate(_KINDS)), re.DOTALL
)
# Every pattern above begins with one of these; looking for plain text first is fifty times faster.
_HINTS = (
    "-----BEGIN ", "sk-", "sk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "AKIA", "ASIA", "AIza", "xox", "hf_", "npm_", "pypi-AgE", "lsv2_", "eyJ",
)  # fmt: skip
_URL_LOGIN = re.compile(r"(?<=://)[^\s/@:\"']{0,200}:[^\s/@\"']{1,200}(?=@)")
_BEARER = re.compile(r"(?i)(\b(?:bearer|basic)\s{1,4})[A-Za-z0-9._~+/=-]{16,}")
_NAMED = re.compile(
    r"(?i)((?:api_?key|secret(?:_?key)?|access_?key|auth_?token|access_?token|password|passwd)"
    r"[\"']?\s{0,4}[:=]\s{0,4}[\"']?)(?=[A-Za-z0-9._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{16,}"
)
_SECRET_FILE = re.compile(
    r"(?i)(\.env(\..+)?|.*\.(pem|p12|pfx|keystore|jks|kdbx|key)|id_(rsa|dsa|ecdsa|ed25519)"
    r"|\.?(netrc|pgpass|htpasswd|pypirc|npmrc|git-credentials|dockercfg|boto)"
    r"|credentials(\.(json|ya?ml|toml|ini|csv))?|secrets?\.(json|ya?ml|toml|ini|env)"
    r"|service[-_]account.*\.json|token(s)?\.(json|txt)|\.(ssh|aws|gnupg|kube|azure))"
)


def redact(text: str) -> str:
    """The same text with every key-shaped part replaced by `[redacted: kind]`.

    Linear in the length of the text; doing it twice changes nothing more.
    """
    if _hinted(text):
        text = _KEY.sub(lambda match: f"[redacted: {_kind(match)}]", text)
    if "://" in text:
        text = _URL_LOGIN.sub("[redacted]", text)
    text = _BEARER.sub(r"\1[redacted]", text)
    return _NAMED.sub(r"\1[redacted]", text)


def holds_key(text: str) -> str | None:
    """Which kind of key stands in the text, `None` for no key. Certain shapes only."""
    match = _KEY.search(text) if _hinted(text) else None
    return _kind(match) if match else None


def looks_secret_name(name: str) -> bool:
    """Whether a file or folder of this name (no folders before it) usually holds credentials."""
    if name.lower() in {".env.example", ".env.sample", ".env.template"}:
        return False
    return bool(_SECRET_FILE.fullmatch(name))


def _hinted(text: str) -> bool:
    return any(hint in text for hint in _HINTS)


def _kind(match: re.Match[str]) -> str:
    return _KINDS[int((match.lastgroup or "k0")[1:])][0]
