"""Abbreviations in a question and in the texts that may answer it, where each form says the other."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from assistant.questions.names import squashed
from assistant.questions.vocabulary import stems
from corpus.language.abbreviations import Abbreviations, Form, agreed_abbreviations, find_abbreviations
from corpus.language.stemming import holds

_WORD = re.compile(r"[^\W_]+")
_MAY_BE_SHORT = re.compile(r"\b([A-Z]{3,5})s?\b")


@cache
def _common() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def common_terms(query: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the common abbreviations in a query, short and long, that texts mostly spell out.

    Those that a text defines are left out.
    """
    asked = set(_WORD.findall(query.lower()))
    terms = [
        (short, long)
        for short, long in _common().items()
        if not asked.isdisjoint((short.lower(), f"{short.lower()}s"))
    ]
    if not terms:
        return ()
    defined = {short for text in texts for short in find_abbreviations(text)}
    whole = "\n".join(texts)
    letters = squashed(whole)
    return tuple(
        (short, long)
        for short, long in terms
        if short not in defined and letters.count(squashed(long)) > len(_short_form(short).findall(whole))
    )


def abbreviations_of(texts: Iterable[str], known: Iterable[tuple[str, str]] = ()) -> Abbreviations:
    """Return the abbreviations that texts spell out, joined with `known` ones (short and long forms)."""
    return agreed_abbreviations([dict(known), *map(find_abbreviations, texts)])


def spelt_out(query: str, text: str, known: Abbreviations, terms: Iterable[tuple[str, str]] = ()) -> str:
    """Return a query with those abbreviations spelt out that the text has only in full ("LLM judges").

    The short forms of `terms`, on which the corpus agrees, are always spelt out. For an abbreviation without
    a known long form, words of the text that begin with its letters are taken.
    """
    agreed = {short.lower() for short, _ in terms}
    forms = known.forms_in(
        query, lambda word: not agreed.isdisjoint((word.lower(), word.lower().removesuffix("s")))
    )
    for form in reversed(list(forms)):
        is_said = form.short.lower() not in agreed and _says_short(text, form.short)
        if form.is_short and not is_said and not _is_in_name(query, form.start, form.end):
            is_plural = form.text.endswith("s") and not form.long.endswith("s")
            query = f"{query[: form.start]}{form.long}{'s' * is_plural}{query[form.end :]}"

    def in_full(match: re.Match[str]) -> str:
        letters = match[1]
        if _says_short(text, letters) or _is_in_name(query, *match.span()):
            return match[0]
        spelt = r"[\s-]+".join(f"{letter}[a-z]{{3,}}" for letter in letters)
        full = re.search(rf"\b{spelt}", text, re.IGNORECASE)
        return full[0].lower() if full else match[0]

    return _MAY_BE_SHORT.sub(in_full, query)


def _is_in_name(query: str, start: int, end: int) -> bool:
    """Return True for a part of a name in several parts: "KG" in "KG-FiD", not in "KG-based"."""
    before, behind = query[:start].rsplit(" ", maxsplit=1)[-1], query[end:].split(" ", maxsplit=1)[0]
    return (before.endswith("-") and before != before.lower()) or (
        behind.startswith("-") and behind != behind.lower()
    )


def with_forms(text: str, forms: Sequence[Form]) -> str:
    """Return a text followed by those of a question's `forms` that it contains, short or long."""
    if not forms:
        return text
    held = stems(text)
    added = (
        form.text
        for form in forms
        if _says_short(text, form.short) or all(holds(held, stem) for stem in stems(form.long))
    )
    return " ".join((text, *added))


def _says_short(text: str, short: str) -> bool:
    return _short_form(short).search(text) is not None


def _short_form(short: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(short)}s?(?![^\W_])")
