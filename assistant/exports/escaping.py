"""Foreign text made harmless in exported Markdown."""

import re

from corpus.text import storable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~$&])")
_LINE_START = re.compile(r"^(\d*)([-+=]|(?<=\d)[.)])")
_ADDRESS = re.compile(r"(?<=\w)(?=://|@[\w-]+\.\w)|(?<=\bwww)(?=\.)", re.IGNORECASE)


def escaped(text: str) -> str:
    """Return foreign text on one line, with nothing in it that Markdown would act on."""
    line = " ".join(storable(text).split())
    plain = _LINE_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", line))
    return _ADDRESS.sub(r"\\", plain)


def quoted(text: str) -> str:
    """Return foreign text as a block quotation."""
    return "\n".join(f"> {escaped(line)}" for line in storable(text).splitlines() if line.strip())


def fenced(text: str) -> str:
    """Return foreign text as a code block whose fence is longer than any in it."""
    text = storable(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
