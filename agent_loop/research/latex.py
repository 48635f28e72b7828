r"""LaTeX as abstracts use it, read as the plain characters it typesets.

Only what is listed here is read. An unknown command stays as it stands, so it must be quoted as
it stands; braces outside the known constructs stay too (`\frac{1}{23}` is not `\frac{12}{3}`).
"""

import re
import unicodedata

from agent_loop.research.trace import Kept, Traced, rewrite

SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "θ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ", "hbar": "ℏ",
    "times": "×", "pm": "±", "mp": "∓", "cdot": "·", "div": "÷", "sim": "∼", "approx": "≈",
    "simeq": "≃", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "lesssim": "≲", "gtrsim": "≳",
    "ll": "≪", "gg": "≫", "neq": "≠", "ne": "≠", "equiv": "≡", "propto": "∝", "to": "→",
    "rightarrow": "→", "leftarrow": "←", "infty": "∞", "partial": "∂", "nabla": "∇", "sum": "∑",
    "prod": "∏", "int": "∫", "in": "∈", "notin": "∉", "subset": "⊂", "cup": "∪", "cap": "∩",
    "forall": "∀", "exists": "∃", "emptyset": "∅", "oplus": "⊕", "otimes": "⊗", "star": "⋆",
    "dagger": "†", "degree": "°", "odot": "⊙", "sun": "☉", "S": "§", "ldots": "...",
    "dots": "...", "cdots": "...", "textellipsis": "...", "textendash": "–", "textemdash": "—",
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "aa": "å", "AA": "Å", "ae": "æ",
    "AE": "Æ", "oe": "œ", "OE": "Œ", "i": "ı", "j": "ȷ", "LaTeX": "LaTeX", "TeX": "TeX",
    "textasciitilde": "~", "textbackslash": "\\", "textregistered": "®", "texttrademark": "™",
    "quad": " ", "qquad": " ", "newline": " ", "linebreak": " ", "left": "", "right": "",
}  # fmt: skip
"""Command name -> what it typesets."""

_FONTS = (
    "emph|text|textit|textbf|texttt|textrm|textsf|textsc|textsl|textup|textnormal|underline|"
    "mathrm|mathbf|mathit|mathsf|mathtt|mathcal|mathbb|mathfrak|mathscr|boldsymbol|bm|mbox|"
    "hbox|ensuremath|operatorname"
)
_OLD_FONTS = "it|bf|em|rm|sc|tt|sl|sf|cal"
_COMBINING = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328",
    "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip

# As pandoc has it: an opening $ touches what follows, a closing one what precedes, and no digit
# comes after it. So `$5 and $6` is money.
_DOLLARS = re.compile(r"(?<!\\)(\$\$?)(?=\S)([^$]{1,400}?)(?<=\S)(?<!\\)\1(?![0-9])")
_ROUND = re.compile(r"\\\((.{1,400}?)\\\)|\\\[(.{1,400}?)\\\]", re.DOTALL)
_ACCENT = re.compile(
    r"""(?P<open>\{)?\\(?:
        (?P<sign>['`^"~=.])[ ]*(?:\{[ ]*(?P<a>\\?[A-Za-z])[ ]*\}|(?P<b>\\[ij](?![A-Za-z])|[A-Za-z]))
      | (?P<word>[cvuHkrdb])(?:\{[ ]*(?P<c>\\?[A-Za-z])[ ]*\}|[ ]+(?P<d>[A-Za-z])(?![A-Za-z]))
    )(?(open)\})""",
    re.VERBOSE,
)
_FONT = re.compile(rf"\\(?:{_FONTS})\*?\s*\{{([^{{}}]*)\}}|\{{\\(?:{_OLD_FONTS})\s+([^{{}}]*)\}}")
_DEGREE = re.compile(r"\^(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))")
_COMMAND = re.compile(r"\\([A-Za-z]+)(?:\{\})?")
_BRACED = re.compile(r"\{(\\[A-Za-z]+)\}")
_ESCAPED = re.compile(r"\\([%&#_${}])")
_SPACING = re.compile(r"\\\\|\\[,;: \n]")
_NOTHING = re.compile(r"\\[!/-]")
_TIE = re.compile(r"(?<=[\w.,)])~(?=[\w\\$(])")

_NESTING = 6


def read_latex(text: Traced) -> Traced:
    """Known LaTeX as the characters it stands for; everything else as it was."""
    text = rewrite(text, _TIE, lambda _: " ")
    text = rewrite(text, _DOLLARS, lambda m: Kept(m.start(2), m.end(2)))
    text = rewrite(text, _ROUND, _inner)
    text = rewrite(text, _ACCENT, _accented)
    for _ in range(_NESTING):
        again = rewrite(text, _FONT, _inner)
        if again is text:
            break
        text = again
    text = rewrite(text, _DEGREE, lambda _: "°")
    text = rewrite(text, _BRACED, _braced)
    text = rewrite(text, _COMMAND, _symbol)
    text = rewrite(text, _ESCAPED, lambda m: m[1])
    text = rewrite(text, _SPACING, lambda _: " ")
    return rewrite(text, _NOTHING, lambda _: "")


def _inner(match: re.Match[str]) -> Kept:
    group = 1 if match[1] is not None else 2
    return Kept(match.start(group), match.end(group))


def _accented(match: re.Match[str]) -> str:
    letter = (match["a"] or match["b"] or match["c"] or match["d"]).removeprefix("\\")
    return unicodedata.normalize("NFC", letter + _COMBINING[match["sign"] or match["word"]])


def _braced(match: re.Match[str]) -> str | Kept:
    known = match[1].removeprefix("\\") in SYMBOLS
    return Kept(match.start(1), match.end(1)) if known else Kept(match.start(), match.end())


def _symbol(match: re.Match[str]) -> str | Kept:
    found = SYMBOLS.get(match[1])
    return Kept(match.start(), match.end()) if found is None else found
