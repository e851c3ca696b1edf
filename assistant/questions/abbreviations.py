"""Abbreviations in a question and in the texts that may answer it, where each form says the other."""

import re
from collections.abc import Iterable, Sequence

from assistant.questions.vocabulary import stems
from corpus.language.abbreviations import Abbreviations, Form, agreed_abbreviations, find_abbreviations
from corpus.language.stemming import holds

_MAY_BE_SHORT = re.compile(r"\b([A-Z]{3,5})s?\b")


def abbreviations_of(texts: Iterable[str], known: Iterable[tuple[str, str]] = ()) -> Abbreviations:
    """Return the abbreviations that texts spell out, and those `known` by their short and long forms."""
    return agreed_abbreviations([dict(known), *map(find_abbreviations, texts)])


def spelt_out(query: str, text: str, known: Abbreviations, terms: Iterable[tuple[str, str]] = ()) -> str:
    """Return a query with an abbreviation in full that the text has only in full ("LLM judges").

    `terms`, on which the corpus agrees, are spelt out whatever the text has. Where nothing spells an
    abbreviation out, words of the text that begin with its letters may be its long form.
    """
    agreed = {short for short, _ in terms}
    forms = known.forms_in(query, lambda word: not agreed.isdisjoint((word, word.removesuffix("s"))))
    for form in reversed(list(forms)):
        if form.is_short and (form.short in agreed or not _says_short(text, form.short)):
            query = query[: form.start] + form.long + query[form.end :]

    def in_full(found: re.Match[str]) -> str:
        letters = found[1]
        if _says_short(text, letters):
            return found[0]
        spelt = r"[\s-]+".join(f"{letter}[a-z]{{3,}}" for letter in letters)
        full = re.search(rf"\b{spelt}", text, re.IGNORECASE)
        return full[0].lower() if full else found[0]

    return _MAY_BE_SHORT.sub(in_full, query)


def with_forms(text: str, forms: Sequence[Form]) -> str:
    """Return a text with those of a question's `forms` behind it that it has in either form."""
    if not forms:
        return text
    held = stems(text)
    said = (form.text for form in forms if _says_short(text, form.short) or _says_long(held, form.long))
    return " ".join((text, *said))


def _says_short(text: str, short: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(short)}s?(?![^\W_])", text) is not None


def _says_long(held: frozenset[str], long: str) -> bool:
    return all(holds(held, stem) for stem in stems(long))
