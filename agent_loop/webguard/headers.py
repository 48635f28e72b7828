"""What every answer of a web door says to the browser."""

from starlette.types import Message

CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""Nothing inline, nothing from outside, and no text that could become markup (trusted types)."""

_ALWAYS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_OURS = frozenset(name for name, _ in _ALWAYS)


def guarded(message: Message) -> Message:
    """The start of an answer with our headers, and without any word that lets other pages read."""
    kept = [
        (name, value)
        for name, value in message.get("headers", ())
        if name.lower() not in _OURS and not name.lower().startswith(b"access-control-")
    ]
    if not any(name.lower() == b"cache-control" for name, _ in kept):
        kept.append((b"cache-control", b"no-store"))
    return {**message, "headers": [*kept, *_ALWAYS]}
