"""What a conversation is about: the phrases its questions name, by salience and recency."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from assistant.questions.intent import without_marks
from assistant.questions.phrases import Phrase, phrases
from assistant.questions.vocabulary import stems, vocabulary
from assistant.records import Turn

# Older turns are forgotten: by then what they named has lost its weight.
WINDOW = 12
NEAR, FAR = 0.3, 0.9
_LEAST = 0.01
_ABOUT, _FIRST, _OTHER, _RESUMED = 1.0, 1.0, 0.5, 0.8
_NAMED, _DEFINITE, _OWNING, _ASPECT = 0.3, 0.8, 0.4, 0.35
_PLURAL_ONLY, _PERSON_ONLY, _PLACE_ONLY = 0.7, 0.2, 0.3
_PLACED = frozenset("in at near around from".split())
MANY = frozenset("they them their theirs these those".split())
_AND = re.compile(
    r"\s{0,200}+(?:,\s*+)?(?:and|or|vs\.?|versus|with|than|&)\s+(?:(?:the|an?)\s+)?", re.IGNORECASE
)
_TITLE = re.compile(r"“[^”]+”")
PERSON = frozenset("he him his she her hers".split())


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase named in a turn, with how prominently it was."""

    phrase: Phrase
    turn: int
    weight: float


def is_subject(phrase: Phrase) -> bool:
    """Return True if a phrase names something: not only what is asked of it ("main types"), nor a label."""
    known = vocabulary()
    asked = known.aspects | known.generic | known.judging
    return any(word not in asked and not word.isdecimal() for word in phrase.text.lower().split())


def is_complete(phrase: Phrase) -> bool:
    """Return True if a phrase names a subject and not one of its parts ("training cost")."""
    known = vocabulary()
    head = phrase.text.lower().split()[-1]
    return is_subject(phrase) and (phrase.is_name or head not in known.aspects | known.generic)


def mentions(history: Sequence[Turn]) -> list[Mention]:
    """Return what the newest turns named, oldest first; refused turns only where no other is."""
    recent = list(enumerate(history))[-WINDOW:]
    answered = [entry for entry in recent if entry[1].answer.refusal is None]
    named: dict[str, Phrase] = {}
    found: list[Mention] = []
    for number, turn in answered or recent[-1:]:
        said = _said(
            turn.rewrite.search_query if turn.rewrite.edited else without_marks(turn.question), number
        )
        resumed = _resumed(turn, named, number)
        titled = _titled(turn, number)
        for mention in (*said, *resumed, *titled):
            named.setdefault(mention.phrase.text.lower(), mention.phrase)
        found += [*said, *resumed, *titled]
    return found


def most_salient(
    named: Sequence[Mention], decay: float, pronoun: str = "", avoid: Set[str] = frozenset()
) -> Mention | None:
    """Return what is meant most likely: often and lately named, and fit for the `pronoun`.

    A mention counts `decay` times less with every turn; what consists of the stems to `avoid` is not meant.
    """
    newest = max((mention.turn for mention in named), default=0)
    pool: dict[frozenset[str], Mention] = {}
    for mention in sorted(named, key=lambda mention: -mention.turn):
        weight = mention.weight * decay ** (newest - mention.turn)
        if weight < _LEAST * mention.weight:
            break
        own = mention.phrase.stems
        same = next(
            (stems for stems in pool if _is_same(stems, own, pool[stems].phrase, mention.phrase)), None
        )
        if same is None:
            pool[own] = replace(mention, weight=weight)
            continue
        fuller = max(pool[same].phrase, mention.phrase, key=lambda phrase: len(phrase.stems))
        pool[same] = replace(pool[same], phrase=fuller, weight=pool[same].weight + weight)
    meant = [_as_meant(mention, pronoun) for stems, mention in pool.items() if not stems <= avoid]
    return max(meant, key=lambda mention: mention.weight, default=None)


def _said(question: str, turn: int) -> list[Mention]:
    found = phrases(question)
    single = [
        Mention(phrase, turn, _prominence(at, found)) for at, phrase in enumerate(found) if is_subject(phrase)
    ]
    return [*single, *_pairs(question, single)]


def _pairs(question: str, single: Sequence[Mention]) -> Iterator[Mention]:
    """Yield what a question names as a pair, so that "they" can mean both: "BM25 and dense retrieval"."""
    for one, other in pairwise(single):
        first, second = one.phrase, other.phrase
        between = question[first.end : second.start]
        if is_complete(first) and is_complete(second) and _AND.fullmatch(between):
            both = replace(first, text=f"{first.text} and {second.in_full}", end=second.end)
            weight = max(one.weight, other.weight)
            yield Mention(replace(both, stems=first.stems | second.stems, is_pair=True), one.turn, weight)


def _prominence(at: int, found: Sequence[Phrase]) -> float:
    """Return how prominent a phrase is among those of its question."""
    phrase = found[at]
    if phrase.before in ("about", "of"):
        weight = _ABOUT
    else:
        weight = _OTHER if any(map(is_subject, found[:at])) else _FIRST
    if phrase.is_name:
        return weight + _NAMED
    # "The cost of food production" is about food production.
    owning = at + 1 < len(found) and found[at + 1].before == "of"
    weight *= _OWNING if owning else 1.0
    weight *= _DEFINITE if phrase.article == "the" else 1.0
    return weight if is_complete(phrase) else weight * _ASPECT


def _resumed(turn: Turn, named: dict[str, Phrase], number: int) -> list[Mention]:
    """Return the earlier phrases that a turn's search query holds and its question did not say."""
    asked, query = turn.question.lower(), turn.rewrite.search_query.lower()
    found: list[Mention] = []
    for text, phrase in sorted(named.items(), key=lambda entry: -len(entry[0])):
        within = any(text in other.phrase.text.lower() for other in found)
        if not within and query.count(text) > asked.count(text):
            found.append(Mention(phrase, number, _RESUMED))
    return found


def _titled(turn: Turn, number: int) -> list[Mention]:
    """Return the papers whose titles a turn's search query has where its question has their labels."""
    query = turn.rewrite.search_query
    found = [
        Mention(Phrase(one[0], *one.span(), "", "", stems(one[0]), is_name=True), number, _ABOUT + _NAMED)
        for one in _TITLE.finditer(query)
        if one[0] not in turn.question
    ]
    return [*found, *_pairs(query, found)]


def _is_same(stems: Set[str], others: Set[str], phrase: Phrase, other: Phrase) -> bool:
    return phrase.is_pair == other.is_pair and (stems >= others or stems <= others)


def _as_meant(mention: Mention, pronoun: str) -> Mention:
    """Return a mention with the weight it has for a pronoun: "they" are rather several, "she" is a name."""
    phrase, weight = mention.phrase, mention.weight
    if pronoun in PERSON:
        owner = re.split(r"['’]s\s", phrase.text)[0]
        phrase = replace(phrase, text=owner)
        weight *= 1.0 if phrase.is_name else _PERSON_ONLY
    elif pronoun == "there":
        weight *= 1.0 if phrase.before in _PLACED or phrase.is_name else _PLACE_ONLY
    elif pronoun:
        fits = phrase.is_plural if pronoun in MANY else phrase.is_name or not phrase.is_plural
        weight *= 1.0 if fits else _PLURAL_ONLY
    elif phrase.is_pair:
        weight *= _PLURAL_ONLY
    return replace(mention, phrase=phrase, weight=weight)
