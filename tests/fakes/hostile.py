"""Sixty texts that want to be more than text, and how the page spells them out."""

import re

# Those that a page which makes markup of them would run: `hit()` tells that it happened.
MARKUP = [
    "<script>hit()</script>",
    "<img src=x onerror=hit()>",
    "<svg onload=hit()></svg>",
    "<svg><script>hit()</script></svg>",
    "<svg><animate onbegin=hit() attributeName=x dur=1s></svg>",
    "<iframe srcdoc='<script>parent.hit()</script>'></iframe>",
    "<iframe src=\"javascript:parent.hit()\"></iframe>",
    "<details open ontoggle=hit()>x</details>",
    "<video><source onerror=hit()></video>",
    "<video src=x onerror=hit()></video>",
    "<audio src=x onerror=hit()></audio>",
    "<input autofocus onfocus=hit()>",
    "<object data='javascript:hit()'></object>",
    "<embed src='javascript:hit()'>",
    "<body onload=hit()>",
    "<style>@keyframes x{}</style><p style='animation:x 1s' onanimationstart=hit()>x</p>",
    "\"><img src=x onerror=hit()>",
    "'><img src=x onerror=hit()>",
    "</pre><img src=x onerror=hit()>",
    "</textarea><img src=x onerror=hit()>",
    "</title><img src=x onerror=hit()>",
    "--><img src=x onerror=hit()>",
    "]]><img src=x onerror=hit()>",
    "<math><mtext><table><mglyph><style><img src=x onerror=hit()></style></mglyph></table></mtext>",
    "<noscript><p title='</noscript><img src=x onerror=hit()>'>",
    "<IMG SRC=x OnErRoR=hit()>",
    "<img/src=x/onerror=hit()>",
    "<img src=x\nonerror\n=\nhit()>",
    "```html\n<img src=x onerror=hit()>\n```",
    "<base href='http://elsewhere.test/'><img src=x onerror=hit()>",
]  # fmt: skip
QUIET = [
    "<a href='javascript:hit()'>click</a>",
    "[click](javascript:hit())",
    "![x](http://elsewhere.test/x.png)",
    "<img src='http://elsewhere.test/x.png'>",
    "<link rel=stylesheet href='http://elsewhere.test/x.css'>",
    "<meta http-equiv=refresh content='0;url=http://elsewhere.test/'>",
    "<form action='http://elsewhere.test/'><button>go</button></form>",
    "data:text/html,<script>hit()</script>",
    "javascript:hit()",
    "&lt;script&gt;hit()&lt;/script&gt; &amp; &#60;b&#62;",
    "${hit()} {{hit()}} #{hit()} <%= hit() %>",
    "\x1b[2J\x1b[1;31mred\x1b[0m",
    "\x1b]0;title\x07\x1b]8;;http://elsewhere.test\x07link\x1b]8;;\x07",
    "\x9b31m one byte escape",
    "bell \x07 back \x08\x08\x08 null \x00 end",
    "\u202edrowssap\u202c left again",
    "\u2066isolated\u2069 \u200fmark",
    "zero\u200bwidth\u200djoin\ufeffbom",
    "tags \U000e0041\U000e0042 nobody sees",
    "line\u2028separator\u2029paragraph",
    "שלום עולם and العربية beside (abc)",
    "Zalgo t\u0336\u0351\u0300e\u0321x\u0317t",
    "../../../../etc/passwd",
    "..\\..\\windows\\system32",
    "%2e%2e%2f%00.json",
    "file:///etc/passwd",
    "'; DROP TABLE runs; --",
    "__proto__ constructor prototype toString",
    "A" * 3_000,
    "\r\nSet-Cookie: x=y\r\n\r\n<script>hit()</script>",
]  # fmt: skip
ALL = MARKUP + QUIET
_SPELLED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def spelled(text):
    """As the page shows it."""
    return _SPELLED.sub(
        lambda found: "␛" if found[0] == "\x1b" else f"⟦U+{ord(found[0]):04X}⟧", text
    )
