"""Foreign text made safe to store, and the words in it."""

import re
import unicodedata

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Control characters, overrides of the writing direction, joiners, surrogates and private characters.
UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\uffff\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


def storable(text: str) -> str:
    """Return `text` without the characters that XML, JSON and Arrow cannot carry, line ends made one form."""
    return _FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, accents kept, compatibility forms folded."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def one_line(text: str) -> str:
    """Return `text` on one line without characters that are not seen; not yet safe for Markdown."""
    return " ".join(UNSEEN.sub("", text).split())


def shortened(text: str, length: int) -> str:
    """Return `text` on one line, cut at a word where it is longer than `length` characters."""
    line = one_line(text)
    if len(line) <= length:
        return line
    return f"{line[:length].rpartition(' ')[0] or line[:length]} …"
