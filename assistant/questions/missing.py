"""Names and phrases of a question that no text contains."""

import re
from collections.abc import Iterator, Sequence

from assistant.questions.abbreviations import abbreviations_of, common_terms, with_forms
from assistant.questions.comparisons import says_side
from assistant.questions.names import names_in, parts_of_name, says_name, squashed
from assistant.questions.phrases import is_subject, phrases

_AUXILIARY = re.compile(r"\b(?:does|do|did|can|could|will|would|should)\b", re.IGNORECASE)
_LAST_WORD = re.compile(r" ([a-z]+)\W*$", re.IGNORECASE)
_WORDS = re.compile(r"[\w’'&./+-]+(?: [\w’'&./+-]+)*")
SHORTEST_NAME = 3
LONGEST_PHRASE = 3  # words: a longer one is said in other words as often as not


def missing_phrases(question: str, texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a question that texts contain, and its phrases that no text with them contains.

    If no text has some name, only such names are returned as missing; phrases are not looked for beside
    several names. Both forms of an abbreviation count as one.
    """
    forms = list(abbreviations_of(texts, common_terms(question, texts)).forms_in(question))
    texts = [with_forms(text, forms) for text in texts]
    names = list(dict.fromkeys(name for name in names_in(question) if len(squashed(name)) >= SHORTEST_NAME))
    unsaid = [
        name
        for name in names
        if not all(any(says_name(text, part) for text in texts) for part in parts_of_name(name))
    ]
    if unsaid or len(names) > 1:
        return (), tuple(unsaid)
    naming = [text for text in texts if all(says_side(text, name) for name in names)]
    missing = (
        phrase for phrase in _phrases(question, names) if not any(says_side(text, phrase) for text in naming)
    )
    return tuple(names), tuple(dict.fromkeys(missing))


def _phrases(question: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the phrases of a question without the names in them, where something is left."""
    known = {squashed(name) for name in names}
    for phrase in phrases(question):
        rest = " ".join(word for word in phrase.text.split() if squashed(word) not in known)
        rest = _verbless(rest, question)
        if rest and is_subject(phrase) and len(rest.split()) <= LONGEST_PHRASE and _WORDS.fullmatch(rest):
            yield rest


def _verbless(phrase: str, question: str) -> str:
    """Return a phrase without a verb at the end of the question: "What does the tagger reach?"."""
    last = _LAST_WORD.search(question)
    before = question[: last.start()].rpartition("\n")[2] if last else ""
    is_verb = last and _AUXILIARY.search(before)
    return phrase.removesuffix(last[1]).strip() if last and is_verb and " " in phrase else phrase
