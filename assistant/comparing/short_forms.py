"""Short forms that papers use for longer names: "NMT" and "neural machine translation" are one thing."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from assistant.phrases import Token, tokens
from assistant.vocabulary import stem, vocabulary
from corpus.records import Paper, TopicKind

# A field of study is nothing that a paper names.
KINDS: tuple[TopicKind, ...] = ("task", "method", "dataset", "metric")
# "NMT", "PLMs", "nDCG@10": what follows the @ says how it is measured, not what.
_SHORT = re.compile(r"([A-Za-z]{2,8})(?:@\w{1,4})?")
_BRACKETS = re.compile(r"([^()\n]{1,200})\(([^()\n]{1,120})\)")
_LONGEST = 8  # words before the brackets
Key = tuple[str, ...]


class ShortForms:
    """The short forms that papers or texts explain, "X Y (XY)", or that are the initials of a named topic.

    One that stands for several things among them is left as it is.
    """

    def __init__(self, papers: Sequence[Paper], texts: Iterable[str]) -> None:
        named = [topic.name for one in papers for topic in one.topics if topic.kind in KINDS]
        whole = chain(texts, named, chain.from_iterable((one.title, one.abstract) for one in papers))
        explained = _collected(pair for text in whole for pair in _explained(text))
        # Nobody says that it is meant, so every part counts: "ML" is not multi-task learning.
        several = [name for name in named if " " in name]
        initials = _collected(
            (short, name) for name in several for short in _initials(name.replace("-", " ").split())
        )
        self._long: Mapping[str, Key] = {**initials, **explained}

    def written_out(self, token: Token) -> Key:
        """Return the stems of a word; of a short form, those of what it stands for."""
        short = _short(token.text)
        return self._long.get(short, (stemmed(token.word),)) if short else (stemmed(token.word),)

    def key(self, name: str) -> Key:
        """Return the stems of a name, its short forms written out."""
        return tuple(chain.from_iterable(self.written_out(token) for token in tokens(name)))


def stemmed(word: str) -> str:
    return stem(word.replace("-", ""))


def _collected(pairs: Iterable[tuple[str, str]]) -> dict[str, Key]:
    """Return what each short form stands for, without those that stand for several things."""
    found: dict[str, set[Key]] = defaultdict(set)
    for short, name in pairs:
        found[short].add(tuple(stemmed(token.word) for token in tokens(name)))
    return {short: keys.pop() for short, keys in found.items() if len(keys) == 1}


def _explained(text: str) -> Iterator[tuple[str, str]]:
    """Yield the short forms that a text explains, with the longer name; either may be in brackets."""
    for before, within in _BRACKETS.findall(text):
        words = before.split()
        for count in range(2, min(len(words), _LONGEST) + 1):
            if _short(within) in _initials(words[-count:]):
                yield _short(within), " ".join(words[-count:])
                break
        if words and _short(words[-1]) in _initials(within.split()):
            yield _short(words[-1]), within


def _initials(words: Sequence[str]) -> set[str]:
    """Return the initials of a name: with its small words or without, "pre-trained" being one or two."""
    if len(words) < 2 and not any("-" in word for word in words):
        return set()
    found = set()
    for parts in (words, " ".join(words).replace("-", " ").split()):
        weighty = [word for word in parts if word.lower() not in vocabulary().function]
        # A name begins and ends with a word of its own: "of the (OT)" explains nothing.
        if weighty and weighty[0] == parts[0] and weighty[-1] == parts[-1]:
            found |= {"".join(word[0] for word in some).lower() for some in (parts, weighty)}
    return {one for one in found if len(one) > 1}


def _short(word: str) -> str:
    """Return the letters of a word that may be a short form, in lower case, "" of any other."""
    match = _SHORT.fullmatch(word.strip())
    if not match or sum(letter.isupper() for letter in match[1]) < 2:
        return ""
    letters = match[1].removesuffix("s") if match[1][:-1].isupper() else match[1]
    return letters.lower()
