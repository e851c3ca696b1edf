"""Names in a question, as far as capitals and digits tell, and the people it asks for."""

import re
from functools import lru_cache

from corpus.language.stemming import stop_words
from corpus.records import Author
from corpus.text import words

_NAME = re.compile(r"(?<!\S)[\"“(]*((?:\w[\w.+-]*)?[A-Z0-9](?:[\w.+-]*\w)?)")
# Patterns of longer names are slow.
LONGEST_NAME = 100
_OF_PEOPLE = frozenset("who whom whose author authors wrote".split())


def squashed(text: str) -> str:
    """Return letters and digits alone: "MS MARCO", "MS-MARCO" and "MSMARCO" are one name."""
    return "".join(character for character in text.lower() if character.isalnum())


def says_name(text: str, name: str) -> bool:
    """Return True if a text has a squashed name at the start or end of a word, hyphenated or apart.

    "LSTM" is said by "BiLSTM" and "LSTMs", "DPR" not by "compressed product", "BERT" not by "RoBERTa".
    """
    if len(name) > LONGEST_NAME:
        return name in squashed(text)
    return _pattern_of(name).search(text) is not None


@lru_cache(maxsize=256)
def _pattern_of(name: str) -> re.Pattern[str]:
    letters = r"[\W_]?".join(map(re.escape, name))
    return re.compile(rf"(?<![^\W_]){letters}|{letters}(?![^\W_])", re.IGNORECASE)


def names_in(question: str) -> list[str]:
    """Return the names in a question: words with a capital or a digit, but for its capitalised first word."""
    matches = [(match.start(1), match[1]) for match in _NAME.finditer(question)]
    start = len(question) - len(question.lstrip(' "“('))
    named = (
        name
        for position, name in matches
        if position > start or sum(not letter.islower() for letter in name) > 1
    )
    return [
        name
        for name in named
        if not (name.lower() in stop_words() and (len(name) == 1 or not name.isupper()))
    ]


def parts_of_name(name: str) -> list[str]:
    """Split a name into squashed parts that must all be mentioned: "English-Czech" has two."""
    parts = [squashed(part) for part in re.split(r"[-/–]", name) if part != part.lower()]
    return [part for part in parts if part] or [squashed(name)]


def asks_who(question: str) -> bool:
    """Return True if a question asks for people, such as authors."""
    return not _OF_PEOPLE.isdisjoint(words(question))


def is_named(author: Author, question: str) -> bool:
    """Return True if a question has an author's family name, unless that is a word of every text ("Will")."""
    family = " ".join(words(author.family))
    return bool(family) and family not in stop_words() and f" {family} " in f" {' '.join(words(question))} "
