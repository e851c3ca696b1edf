"""LaTeX of bibliographies converted to plain text."""

import logging
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pylatexenc.latex2text import (
    LatexNodes2Text,
    MacroTextSpec,
    SpecialsTextSpec,
    get_default_latex_context_db,
)
from pylatexenc.latexencode import get_builtin_uni2latex_dict
from pylatexenc.latexwalker import LatexWalkerError
from pylatexenc.latexwalker import get_default_latex_context_db as get_default_syntax
from pylatexenc.macrospec import std_macro

from corpus.markup.raised import lower_text, raise_text

# Its warnings are dropped: what the library cannot decode stays as it is typed.
logging.getLogger("pylatexenc").addHandler(logging.NullHandler())
logging.getLogger("pylatexenc").propagate = False

# Text without these needs no decoder, which is slow.
_COMMANDS = re.compile(r"[\\{}$]")
_ESCAPE = re.compile(r"\\[%&#_ ]|(?<!\\)(?:---?|``|''|[!?]`|~)")
_PLAIN = {"---": "—", "--": "–", "``": "“", "''": "”", "!`": "¡", "?`": "¿", "~": " "}
# To the library a percent sign begins a comment; BibTeX fields have no comments.
_PERCENT = re.compile(r"(?<!\\)((?:\\\\)*)%")
# An accent over nothing is a typed backslash: "a\b".
_LONE_ACCENT = re.compile(r"(?<!\\)\\([bcdHkrtuv]|['\"`=.])(?=\s*(?:$|[^\w\s{\\]))")
_EMPTY_ACCENT = re.compile(r"\\([~^])\s*\{\s*\}")
_ADDRESS = re.compile(r"\\(?:url|nolinkurl|path)\s*\{[^{}]*\}")
_SYMBOL_IN_MATH = re.compile(r"\$\s*(\\backslash|\\sim|\\textless|\\textgreater|\\_|[<>|])\s*\$")
_SYMBOLS = {
    "\\backslash": r"\textbackslash{}",
    "\\sim": r"\textasciitilde{}",
    "\\textless": "<",
    "\\textgreater": ">",
}
_SILENT = (
    "relax protect ignorespaces unskip null allowbreak nobreak linebreak pagebreak noindent sloppy "
    "em it sl bf sc tt sf rm bfseries itshape slshape scshape upshape mdseries ttfamily sffamily rmfamily "
    "normalfont tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge - /"
).split()
_LOGOS = ("TeX", "LaTeX", "BibTeX", "XeTeX", "XeLaTeX", "LuaTeX", "LuaLaTeX", "pdfLaTeX", "ConTeXt")
_CHARACTERS = {
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textasteriskcentered": "*",
    "textbraceleft": "{",
    "textbraceright": "}",
    "textdollar": "$",
    "textnumbersign": "#",
    "degree": "°",
    "S": "§",
    "P": "¶",
    "slash": "/",
    "copyright": "©",
    "pounds": "£",
    "euro": "€",
    "EUR": "€",
}
_ONE_ARGUMENT = (
    "texttt textsf textsc textrm textnormal textup textmd textlatin textgreek mbox hbox fbox text ensuremath "
    "url nolinkurl path uppercase lowercase MakeUppercase MakeLowercase NoCaseChange textquote"
).split()
_FAILURES = (LatexWalkerError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
_SYMBOL = re.compile(r"\{?\\([A-Za-z]{2,})(?:\{\})?\}?")
_GROUP = re.compile(r"\s*\{")
_COMMAND_OF_GROUP = re.compile(r"\\[A-Za-z]+\*?\s*(?=\{)")
_LITERAL = re.compile(r"\\([_%&#$ {}])|\{\\([_%&#$])\}")
_LINK = re.compile(r"\\(?:url|path|nolinkurl|href)\s*\{([^{}]*)\}(?:\s*\{[^{}]*\})?")
_TYPED = (
    (re.compile(r"\$\s*\\backslash\s*\$|\{?\\textbackslash\s*(?:\{\s*\})?\}?"), r"\\"),
    (re.compile(r"\{?\\(?:textasciitilde|~)\s*(?:\{\s*\})?\}?|\$\s*\\sim\s*\$"), "~"),
    (re.compile(r"\{?\\textless\s*(?:\{\})?\}?|\$\s*<\s*\$"), "<"),
    (re.compile(r"\{?\\textgreater\s*(?:\{\})?\}?|\$\s*>\s*\$"), ">"),
    (re.compile(r"\{?\\textasciicircum\s*(?:\{\})?\}?"), "^"),
    (re.compile(r"\{?\\textunderscore\s*(?:\{\})?\}?"), "_"),
)


def latex_to_text(text: str, *, keep_groups: bool = False) -> str:
    """Return LaTeX as text: accents composed, commands replaced by their words, formulas unchanged.

    With `keep_groups`, braces around two or more letters stay, by which names are split. Never raises; text
    that the decoder cannot read only loses its braces.
    """
    if not _COMMANDS.search(_ESCAPE.sub("", text)):
        return _ESCAPE.sub(lambda match: _PLAIN.get(match[0], match[0][-1]), text)
    prepared = _ADDRESS.sub(
        lambda match: match[0].replace("~", r"\textasciitilde{}").replace("-", "-{}"), text
    )
    prepared = _SYMBOL_IN_MATH.sub(lambda match: _SYMBOLS.get(match[1], match[1]), prepared)
    prepared = _EMPTY_ACCENT.sub(
        lambda match: r"\textasciitilde{}" if match[1] == "~" else r"\textasciicircum{}", prepared
    )
    prepared = _LONE_ACCENT.sub(
        lambda match: rf"\textbackslash{{}}{match[1]}" if match[1].isalpha() else match[1], prepared
    )
    prepared = _PERCENT.sub(r"\1\\%", prepared)
    try:
        decoder, syntax = _decoder(keep_groups)
        decoded = str(decoder.latex_to_text(prepared, latex_context=syntax))
    except (*_FAILURES, RecursionError):
        return re.sub(r"[{}]", "", _COMMAND_OF_GROUP.sub("", text))
    return decoded.replace("\N{NO-BREAK SPACE}", " ").replace("\N{SOFT HYPHEN}", "")


def typed_text(text: str) -> str:
    """Undo only LaTeX's escapes in an address, an identifier or a path."""
    for pattern, character in _TYPED:
        text = pattern.sub(character, text)
    text = _LINK.sub(r"\1", text)
    text = _LITERAL.sub(lambda match: match[1] or match[2], text)
    return re.sub(r"[{}]", "", text).strip()


@lru_cache(maxsize=2)
def _decoder(keep_groups: bool) -> tuple[Any, Any]:
    """Return the decoder, and the syntax of commands for its parser."""
    texts = get_default_latex_context_db()
    texts.add_context_category(
        "bibliographies",
        prepend=True,
        macros=[
            *(MacroTextSpec(name, simplify_repl="") for name in _SILENT),
            *(MacroTextSpec(name, simplify_repl=name) for name in _LOGOS),
            *(MacroTextSpec(name, simplify_repl=character) for name, character in _CHARACTERS.items()),
            *(MacroTextSpec(name, simplify_repl=_last_words) for name in (*_ONE_ARGUMENT, "href")),
            *(MacroTextSpec(name, simplify_repl=_quoted) for name in ("enquote", "mkbibquote")),
            MacroTextSpec("verb", simplify_repl=lambda node: str(node.nodeargd.verbatim_text)),
            *(MacroTextSpec(name, simplify_repl=_citation) for name in ("cite", "citet", "citep")),
            *(MacroTextSpec(name, simplify_repl="") for name in ("noopsort", "SortNoop", "nop", "label")),
            MacroTextSpec("newline", simplify_repl=" "),
            MacroTextSpec("textsuperscript", simplify_repl=_raised),
            MacroTextSpec("textsubscript", simplify_repl=_lowered),
        ],
        specials=[SpecialsTextSpec("&", simplify_repl="&")],
    )
    texts.add_context_category("symbols", prepend=False, macros=_symbols())
    texts.set_unknown_macro_spec(MacroTextSpec("", simplify_repl=_last_words))
    syntax = get_default_syntax()
    syntax.add_context_category(
        "bibliographies",
        prepend=True,
        macros=[
            std_macro("href", False, 2),
            std_macro("enquote", "*{"),
            *(
                std_macro(name, False, 1)
                for name in (*_ONE_ARGUMENT, "mkbibquote", "noopsort", "SortNoop", "nop")
            ),
            *(std_macro(name, False, 1) for name in ("textsuperscript", "textsubscript")),
        ],
    )
    return LatexNodes2Text(texts, math_mode="verbatim", keep_braced_groups=keep_groups), syntax


def _symbols() -> Iterator[Any]:
    """Yield the commands for single characters, from the library's table for encoding."""
    for code, latex in get_builtin_uni2latex_dict().items():
        if command := _SYMBOL.fullmatch(latex):
            yield MacroTextSpec(command[1], simplify_repl=chr(code))


def _last_words(node: Any, l2tobj: Any) -> str:
    """Return the last argument of a command as text; without arguments, the command as it is typed."""
    arguments = getattr(node.nodeargd, "argnlist", None) or ()
    if words := [argument for argument in arguments if argument is not None]:
        return str(l2tobj.nodelist_to_text(words[-1:]))
    typed, rest = node.latex_verbatim(), node.parsing_state.s[node.pos + node.len :]
    return "" if _GROUP.match(rest) else str(typed)


def _quoted(node: Any, l2tobj: Any) -> str:
    return f"“{_last_words(node, l2tobj)}”"


def _citation(node: Any, l2tobj: Any) -> str:
    return f"[{l2tobj.nodelist_to_text(node.nodeargd.argnlist[-1:])}]"


def _raised(node: Any, l2tobj: Any) -> str:
    return raise_text(l2tobj.nodelist_to_text(node.nodeargd.argnlist[-1:]))


def _lowered(node: Any, l2tobj: Any) -> str:
    return lower_text(l2tobj.nodelist_to_text(node.nodeargd.argnlist[-1:]))
