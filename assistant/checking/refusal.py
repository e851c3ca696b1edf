"""When the corpus cannot answer: before writing, because nothing is near; after it, because nothing holds."""

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from assistant.checking.thresholds import thresholds
from assistant.questions import (
    compared,
    meant_title,
    missing_phrases,
    names_in,
    says_side,
    squashed,
    stems,
    subject_stems,
    vocabulary,
    word_weights,
)
from assistant.records import Answer, NearestPassage, Refusal, RefusalReason, Rewrite
from corpus.language import holds, spelt_as, stem
from corpus.records import PaperHits, Scope, parse_topic_key
from corpus.sentences import sentence_spans
from corpus.store import Corpus
from corpus.text import words
from corpus.wording import joined

# Short words that other languages are full of and English has not.
_FOREIGN = frozenset(
    """
    der die das und ist sind welche wie für mit nicht ein eine gibt auf von zu im warum wann wird werden kann
    bei le la les des une est sont quelle quelles quels quel que qu'est-ce c'est comment pourquoi pour dans
    avec qui sur el los las cuáles qué cómo para con por una del son gli che come quali sono il di della
    delle perché het een zijn welke hoe voor niet waarom os quais como uma não
    """.split()
)
# "Von Mises", "de la Cruz", "El Niño", "Die Hard" are names in any language.
_NAME_PARTICLES = re.compile(
    r"\b(?:(?i:von|van|der|die|das|de|del|della|di|do|dos|das|le|la|les|el|los|las|il|zu)\s{1,3}){1,3}(?=[A-Z])"
)

_OTHER_WORDS = "Try other words, or look in more papers."
_MESSAGES: dict[RefusalReason, str] = {
    "empty_corpus": "There is nothing to search in {searched}. Widen the scope, or index a collection.",
    "language": "No passage in {searched} answers this as it is asked. The papers and the search are in "
    "English: ask in English.",
    "nothing_relevant": f"No passage in {{searched}} answers this. {_OTHER_WORDS}",
    "not_about": f"The passages found in {{searched}} do not say what is asked. {_OTHER_WORDS}",
    "not_carried": "What was written is not carried by the passages it cites, so it is not shown. Ask more "
    "narrowly, or choose another writer.",
    "nothing_written": "The writer's reply held no sentence that could be checked. The papers may well "
    "answer this: ask again, or choose another writer.",
    "nothing_supported": "The passages found in {searched} do not answer this. Ask more narrowly, or have "
    "more papers read.",
}
SHORTEST_NAME = 3
MISSING_SAID = 3
TITLES = 3  # papers or collections named as what is covered


def cannot_answer(rewrite: Rewrite, papers: tuple[PaperHits, ...]) -> RefusalReason | None:
    """Return why the papers found cannot answer, None when they may (the gate before writing)."""
    if not papers:
        return "empty_corpus"
    if len(papers) == 1 and (rewrite.kind == "summary" or _tells_of(rewrite.searched_for, papers[0])):
        return None  # What is asked is asked of the paper: "What are its limits?"
    if _may_answer(rewrite, papers):
        return None
    return "language" if is_foreign(rewrite.question) else "nothing_relevant"


def _may_answer(rewrite: Rewrite, papers: tuple[PaperHits, ...]) -> bool:
    query = rewrite.searched_for
    if rewrite.kind == "summary" and _names_one(query, papers):
        return True
    texts = [
        f"{found.paper.title}. {_called(found, query)} {hit.passage.text}"
        for found in papers
        for hit in found.hits
    ]
    if rewrite.kind == "comparison" and (sides := compared(query)):
        return all(any(says_side(text, side) for text in texts) for side in sides)
    defined = subject_stems(query) if rewrite.kind == "definition" else frozenset()
    if len(defined) > 1 and not any(_is_together(defined, query, text) for text in texts):
        return False
    if rewrite.kind == "fact" and not _names_together(query, texts):
        return False
    return answerability(query, papers) >= thresholds().refusal.enough


def _names_together(query: str, texts: Sequence[str]) -> bool:
    """Return True if one passage, with its title, has all names of a question: "the BLEU of X"."""
    names = [name for name in map(squashed, names_in(query)) if _is_telling(name)]
    return not names or any(all(name in text for name in names) for text in map(squashed, texts))


def _is_together(defined: Collection[str], query: str, text: str) -> bool:
    """Return True if a sentence of a text holds all words of what is to be defined."""
    for start, end in sentence_spans(text):
        held = spelt_as(query, text[start:end], stems(text[start:end]))
        if all(holds(held, one) for one in defined):
            return True
    return False


def _names_one(query: str, papers: tuple[PaperHits, ...]) -> bool:
    return meant_title(query, [found.paper.title for found in papers]) is not None


def _tells_of(query: str, paper: PaperHits) -> bool:
    """Return True if a paper has the names of a question, and most of what else it is about."""
    text = " ".join((paper.paper.title, _called(paper, query), *(hit.passage.text for hit in paper.hits)))
    held, subject = spelt_as(query, text, stems(text)), subject_stems(query)
    has_names = all(squashed(name) in squashed(text) for name in names_in(query))
    return has_names and (not subject or 2 * sum(holds(held, one) for one in subject) > len(subject))


def answerability(query: str, papers: tuple[PaperHits, ...]) -> float:
    """Return how likely the papers found answer a query, about 0..1.5.

    A passage may be near a question in all but the thing asked about, so words count beside the cosine: those
    that nothing found holds, and names the most.
    """
    limits = thresholds().refusal
    near = max((hit.dense or 0.0 for found in papers for hit in found.hits), default=0.0)
    texts = [
        _read(f"{found.paper.title} {_called(found, query)} {hit.passage.text}", query)
        for found in papers
        for hit in found.hits
    ]
    names = [squashed(name) for name in names_in(query)]
    asked = word_weights(query, limits.part_word)
    held = {word: [text.has(word, names) for text in texts] for word in asked}
    # The fewer passages hold a word, the more it tells: "text" stands in most of them, "coherence" in few.
    # Not so of a word of asking: that no passage says "criticised" tells nothing of its subject.
    weights = {
        word: weight if weight < 1.0 else math.log((2 + len(texts)) / (1 + sum(held[word])))
        for word, weight in asked.items()
    }
    total = sum(weights.values()) or 1.0
    best = max(
        (sum(weights[word] for word in weights if held[word][at]) for at in range(len(texts))), default=0.0
    )
    missing = sum(weight for word, weight in weights.items() if not any(held[word]))
    unnamed = sum(not any(name in text.squashed for text in texts) for name in names)
    together = any(map(_is_telling, names)) and any(
        all(name in text.squashed for name in names) for text in texts
    )
    score = near + limits.words * best / total - limits.missing * missing / total
    return score + limits.named * together - limits.unnamed * unnamed / max(1, len(names))


def _called(found: PaperHits, query: str) -> str:
    """Return by what a query names a paper, which its texts need not say: venue, ids or authors."""
    paper, venue = found.paper, words(found.paper.venue)
    by_venue = found.paper.venue if venue and set(venue) <= set(words(query)) else ""
    if not found.is_named:
        return by_venue
    names = (author.name for author in paper.authors)
    return " ".join((paper.id, paper.doi, paper.arxiv_id, by_venue, *names))


@dataclass(frozen=True, slots=True)
class _Text:
    """A passage with its title as its stems, and as its letters and digits alone."""

    stems: frozenset[str]
    squashed: str

    def has(self, word: str, names: Collection[str]) -> bool:
        return holds(self.stems, word) or (word in names and word in self.squashed)


def _read(text: str, query: str) -> _Text:
    return _Text(spelt_as(query, text, stems(text)), squashed(text))


def _is_telling(name: str) -> bool:
    return len(name) >= SHORTEST_NAME


def is_foreign(question: str) -> bool:
    """Return True if a question is surely not English, by its letters and its short words."""
    letters = [character for character in question if character.isalpha()]
    latin = sum("LATIN" in unicodedata.name(character, "") for character in letters)
    if letters and latin < len(letters) / 2:
        return True
    asked = words(question)
    if _FOREIGN.isdisjoint(words(_NAME_PARTICLES.sub(" ", question))):
        return False
    english = sum(word in vocabulary().function for word in asked)
    return sum(word in _FOREIGN for word in asked) > english


def refuse(
    reason: RefusalReason, papers: tuple[PaperHits, ...], searched: str, *, query: str = "", said: str = ""
) -> Answer:
    """Return a refusal as an answer; `searched` names what was searched, `said` is the model's own reason.

    Where something of the query stands in no passage found, the refusal says what.
    """
    is_open = reason in ("nothing_relevant", "nothing_supported") and not said
    missing = _missing(query, papers, searched) if is_open else ""
    message = f"{missing} {_OTHER_WORDS}" if missing else _message(reason, searched, said)
    return Answer("", (), Refusal("not_about" if missing else reason, message, _nearest(papers)))


def _nearest(papers: tuple[PaperHits, ...]) -> tuple[NearestPassage, ...]:
    """Return the nearest passages of text; a bare caption tells nobody what it is about."""
    hits = [(hit, found.paper) for found in papers for hit in found.hits]
    texts = [pair for pair in hits if pair[0].passage.kind != "caption"] or hits
    first = sorted(texts, key=lambda pair: -(pair[0].dense or 0.0))[: thresholds().refusal.nearest]
    return tuple(
        NearestPassage(hit.passage.id, paper.id, paper.title, hit.passage.text, hit.dense or 0.0)
        for hit, paper in first
    )


def _missing(query: str, papers: tuple[PaperHits, ...], searched: str) -> str:
    """Return in words what no passage found says of a query, "" where they say all of it."""
    texts = [f"{found.paper.title}. {hit.passage.text}" for found in papers for hit in found.hits]
    names, missing = missing_phrases(query, texts)
    if not texts or not missing:
        return ""
    naming = f" that names {joined(map(_quoted, names))}" if names else ""
    words = joined(map(_quoted, missing[:MISSING_SAID]), "or")
    return f"No passage found in {searched}{naming} has the words {words}."


def _quoted(text: str) -> str:
    return f"“{text}”"


def with_coverage(answer: Answer, corpus: Corpus, scope: Scope) -> Answer:
    """Return an answer, a refusal with what was searched: titles and the main topics."""
    if answer.refusal is None:
        return answer
    return replace(answer, refusal=replace(answer.refusal, covers=tuple(_covered(corpus, scope))))


def _covered(corpus: Corpus, scope: Scope) -> Iterator[str]:
    if scope.papers:
        titles = [paper.title for paper in corpus.papers_by_id(scope.papers[:TITLES])]
        count = len(scope.papers)
    else:
        collections = scope.collections or corpus.collection_ids()
        titles = [corpus.collection(identifier).title for identifier in collections[:TITLES]]
        count = len(collections)
    yield from titles
    if count > len(titles):
        yield f"and {count - len(titles):,} more"
    names = _named_once(parse_topic_key(key)[1] for key in corpus.statistics.topic_counts(scope))
    if topics := ", ".join(islice(names, thresholds().refusal.topics)):
        yield f"Topics: {topics}"


def _named_once(names: Iterable[str]) -> Iterator[str]:
    """Yield each name once: a field and a method may differ in case, a hyphen or a word's form alone."""
    seen: set[str] = set()
    for name in names:
        key = stem(squashed(name))
        if key not in seen:
            seen.add(key)
            yield name


def nothing_holds(answer: Answer) -> bool:
    """Return True if nothing that an answer says is held by what it cites (the gate after writing).

    An answer whose claims were not scored, or which cites nothing at all, is not judged by this.
    """
    claims = [sentence.support for sentence in answer.sentences if sentence.citations]
    scored = [support for support in claims if support is not None]
    if not scored or len(scored) < len(claims) or answer.citation_recall:
        return False
    return max(scored) < thresholds().refusal.unsupported


def _message(reason: RefusalReason, searched: str, said: str) -> str:
    given = f" The writer's reason: {said}" if said else ""
    return _MESSAGES[reason].format(searched=searched) + given
