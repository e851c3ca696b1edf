"""Foreign text made safe to store, and the words in it."""

import re
import unicodedata

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


def storable(text: str) -> str:
    """Return `text` without the characters that XML, JSON and Arrow cannot carry, line ends made one form."""
    return _FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, accents kept, compatibility forms folded."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())
