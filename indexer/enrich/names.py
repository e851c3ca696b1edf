"""Names that are on no list, classified by the words around them: data sets, and what a paper creates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus.records import TopicKind
from indexer.enrich.phrases import Phrases, is_acronym, tokens

Named = tuple[TopicKind, str]

_NAME = r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+){0,3}"
_TITLE = re.compile(rf"(?P<name>{_NAME})\s*:\s+(?P<after>\S.*)")
_CREATES = (
    r"(?:propose|present|introduce|develop|release|build|create|construct|describe|design|contribute|offer)s?"
)
_OWN = re.compile(
    r"\b(?:[Ww]e|[Tt]his (?:paper|work|article|study))(?:\s+(?:\w+ly|then|also|here|further))?"
    rf"\s+{_CREATES}\s+"
    rf"(?P<phrase>[^.;:,()]{{0,90}})(?P<after>[^.;]{{0,80}})"
)
_CALLED = re.compile(
    rf"\b(?:called|named|dubbed|termed|namely|coined),?\s+(?:the\s+)?(?P<name>{_NAME})(?![\w-]| [A-Z])"
)
_BRACKET = re.compile(rf"\(\s*(?P<name>{_NAME})\s*\)")
_LAST = re.compile(rf"(?:^|\s)(?P<name>{_NAME})$")
_APPOSITION = re.compile(r"\s*[,:–—-]\s+(?:an?|the|our)\s+")
_CREATION = re.compile(rf"\b{_CREATES}\b")
# Words after one of these state a purpose or material, not the kind.
_MODIFIER = re.compile(
    r"(?<![\w-])(?:for|of|on|with|over|in|via|using|by|from|to|that|which|based|and|as|towards?|through|under|without)(?![\w-])"
)
_SHORTEST, _LONGEST = 3, 24
# An unknown name this short is only taken from the paper that created it.
_ABBREVIATION = 4
_NEAR = 80


@dataclass(frozen=True, slots=True)
class NameRules:
    """The nouns that classify a name, and capitalised words that are no names."""

    dataset_nouns: frozenset[str]
    own: Mapping[TopicKind, Sequence[str]]
    not_names: frozenset[str]


class Names:
    def __init__(self, rules: NameRules, known: Phrases[Named]) -> None:
        self._nouns = rules.dataset_nouns
        self._not_names = frozenset(name.lower() for name in rules.not_names)
        self._known = known
        self._kinds = Phrases((noun, kind) for kind, nouns in rules.own.items() for noun in nouns)

    def datasets(self, text: str) -> Iterator[Named]:
        """Yield names before a noun such as "corpus"."""
        for word, noun in pairwise(text.split()):
            if noun.strip(".,;:()").lower() not in self._nouns:
                continue
            name = word.lstrip("(“\"'‘")
            short = name.isupper() and len(name) <= _ABBREVIATION
            # A bracketed name abbreviates the words before it, mostly a task.
            if not short and f"({name})" not in text and self._is_new(name):
                yield "dataset", name

    def own(self, title: str, abstract: str) -> Iterator[Named]:
        """Yield the names of a paper's own contributions, where the words around them give the kind."""
        if match := _TITLE.match(title):
            kind = self._head(match["after"]) or self._kind_of(match["name"], abstract)
            yield from self._named(kind, match["name"])
        for match in _OWN.finditer(abstract):
            yield from self._created(match["phrase"].rstrip(), match["after"])
        for match in _CALLED.finditer(abstract):
            before = abstract[max(0, match.start() - _NEAR) : match.start()]
            if _CREATION.search(before):
                yield from self._named(self._last(before), match["name"])

    def _created(self, phrase: str, after: str) -> Iterator[Named]:
        """Yield the name of a proposed thing: "the X model", "a model (X)", "X, a model"."""
        head = _MODIFIER.split(phrase, maxsplit=1)[0].rstrip()
        if head != phrase.rstrip():
            after = ""
        if (match := _BRACKET.match(after)) and (kind := self._ends_as(head)):
            yield from self._named(kind, match["name"])
        elif match := _LAST.search(head):
            kind = self._ends_as(head[: match.start()]) or self._apposition(after)
            yield from self._named(kind, match["name"])
        words = head.split()
        if len(words) > 1 and (kind := self._ends_as(words[-1])):
            yield from self._named(kind, words[-2])

    def _named(self, kind: TopicKind | None, name: str) -> Iterator[Named]:
        if kind and self._is_new(name):
            yield kind, name

    def _kind_of(self, name: str, abstract: str) -> TopicKind | None:
        """Classify a name by the words around its mentions in the abstract."""
        for match in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", abstract):
            before = abstract[max(0, match.start() - _NEAR) : match.start()].rstrip(" (,")
            after = abstract[match.end() : match.end() + _NEAR]
            if kind := self._ends_as(before) or self._apposition(after):
                return kind
        return None

    def _apposition(self, after: str) -> TopicKind | None:
        match = _APPOSITION.match(after)
        return self._head(after[match.end() :]) if match else None

    def _head(self, phrase: str) -> TopicKind | None:
        """Classify a noun phrase by its head, before its first modifier."""
        return self._ends_as(re.split(r"[,.;:()]", _MODIFIER.split(phrase, maxsplit=1)[0])[0])

    def _last(self, text: str) -> TopicKind | None:
        return next(reversed(list(self._kinds.found(tokens(text)))), None)

    def _ends_as(self, text: str) -> TopicKind | None:
        words = tokens(text)[-2:]
        kinds = self._kinds.stands_for(" ".join(words)) or self._kinds.stands_for(" ".join(words[-1:]))
        return kinds[0] if kinds else None

    def _is_new(self, name: str) -> bool:
        """Return True if a word looks like a name and is on no list."""
        if not _SHORTEST <= len(name) <= _LONGEST or name.lower() in self._not_names:
            return False
        parts = name.split("-")
        is_name = re.fullmatch(_NAME, name) and all(map(_may_be_part, parts)) and any(map(is_acronym, parts))
        if not is_name or self._known.stands_for(name):
            return False
        return not all(part.lower() in self._not_names or self._known.stands_for(part) for part in parts)


def _may_be_part(part: str) -> bool:
    """Return True if a part of a name is no ordinary word, also not one with capitals for an acronym."""
    if re.fullmatch(r"[A-Z]{2,3}[a-z]{4,}|[A-Z]{10,}", part):
        return False
    return is_acronym(part) or len(part) <= 4 or not part.isalpha()
