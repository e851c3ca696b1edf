"""Refusals: the messages for questions that the corpus cannot answer and for unsupported drafts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from assistant.checking.thresholds import thresholds
from assistant.questions.missing import missing_phrases
from assistant.questions.names import names_in, says_name, squashed
from assistant.questions.parts import meant_title
from assistant.questions.vocabulary import stems
from assistant.records import Answer, NearestPassage, Refusal, RefusalReason
from corpus.language.identified import foreign_language
from corpus.language.stemming import stem
from corpus.records import Hit, Paper, PaperHits, Scope, parse_topic_key
from corpus.store.corpus import Corpus
from corpus.wording import all_authors, joined

_OTHER_WORDS = "Try other words, or look in more papers."
_MESSAGES: dict[RefusalReason, str] = {
    "empty_corpus": "There is nothing to search in {searched}. Widen the scope, or index a collection.",
    "language": "Nothing in {searched} can be found in the language that this is asked in. Ask in English.",
    "which_paper": "Which paper do you mean? The question is about one paper, and nothing in it tells which "
    "of {searched}.",
    "nothing_relevant": f"No passage in {{searched}} answers this. {_OTHER_WORDS}",
    "not_about": f"The passages found in {{searched}} do not say what is asked. {_OTHER_WORDS}",
    "not_carried": "What was written is not carried by the passages it cites, so it is not shown. Ask more "
    "narrowly, or choose another writer.",
    "nothing_written": "The writer's reply held no sentence that could be checked. The papers may well "
    "answer this: ask again, or choose another writer.",
    "nothing_supported": "The passages found in {searched} do not answer this. Ask more narrowly, or have "
    "more papers read.",
}
ALL_THOUGHT = (
    "The writer used all the tokens of its reply before it wrote an answer, as models do that think first. "
    "The papers may well answer this: allow it a longer reply, or choose another writer."
)
SHORTEST_NAME = 3
# Questions for what a paper's record has.
_OF_AUTHORS = re.compile(
    r"^\W*(?:who|which|what|name|list|give)\b[^?]{0,40}\bauthors?\b|\bwho (?:wrote|published)\b",
    re.IGNORECASE,
)
_OF_RECORD = re.compile(
    r"\b(?:which|what) (?:year|venue|conference|journal)\b"
    r"|\b(?:when|where) (?:was|were) .{1,100}\b(?:published|presented)\b",
    re.IGNORECASE,
)
SAME_TITLE = 0.75  # share of the content words of a title that a question has to have
SHORTEST_TITLE = 3  # content words
# Chinese puts no spaces round a Latin name.
_OTHER_LETTERS = re.compile(r"[^\x00-\u024f]+")
MISSING_SAID = 3
CHOICES = 8  # papers to choose from where none is named
TITLES = 3  # papers or collections named as what is covered


def refuse(
    reason: RefusalReason,
    papers: tuple[PaperHits, ...],
    searched: str,
    *,
    query: str = "",
    said: str = "",
    stated: str = "",
) -> Answer:
    """Return a refusal as an answer; `searched` names what was searched, `said` is the model's own reason.

    The message names words of the query that no passage found has. `stated` replaces the message.
    """
    if stated:
        shared = _shared_names(query, papers)
        note = f" The passages below have {joined(map(_quoted, shared))} in common with it." if shared else ""
        return Answer("", (), Refusal(reason, f"{stated}{note}", _nearest(papers, shared)))
    # Content words are known in English only.
    is_open = reason in ("nothing_relevant", "nothing_supported") and not said and not foreign_language(query)
    if is_open and (record := record_of(query, [hits.paper for hits in papers])):
        message = f"No passage found in {searched} says this, but the corpus's record does: {record}"
        return Answer("", (), Refusal("not_about", message, _nearest(papers)))
    missing = _missing(query, papers, searched) if is_open else ""
    if missing:
        return Answer("", (), Refusal("not_about", f"{missing} {_OTHER_WORDS}", _nearest(papers)))
    message = _MESSAGES[reason].format(searched=searched) + (f" The writer's reason: {said}" if said else "")
    if reason != "which_paper":
        return Answer("", (), Refusal(reason, message, _nearest(papers)))
    choices = (_near(hit, hits.paper) for hits in papers[:CHOICES] for hit in hits.hits[:1])
    return Answer("", (), Refusal(reason, message, tuple(choices)))


def record_of(query: str, papers: Sequence[Paper]) -> str:
    """Return a sentence on authors, venue and year of the paper that a query asks these of, "" if none."""
    if not (_OF_RECORD.search(query) or asks_for_authors(query)):
        return ""
    titles = [paper.title for paper in papers]
    index = meant_title(query, titles)
    index = _said_title(query, titles) if index is None else index
    if index is None:
        return ""
    paper = papers[index]
    authors = f"by {all_authors(paper.authors)}" if paper.authors else ""
    year = str(paper.year or "")
    facts = ", ".join(filter(None, (authors, paper.venue, "" if year in paper.venue else year)))
    return f"{_quoted(paper.title)} is {facts}." if facts else ""


def asks_for_authors(query: str) -> bool:
    """Return True if a query asks who wrote something, which no passage says."""
    return _OF_AUTHORS.search(query) is not None


def _said_title(query: str, titles: Sequence[str]) -> int | None:
    """Return the index of the title most of whose content words a query has, None if there is none."""
    asked = stems(query)
    shares = [
        len(asked & held) / len(held) if len(held := stems(title)) >= SHORTEST_TITLE else 0.0
        for title in titles
    ]
    best = max(range(len(titles)), key=shares.__getitem__, default=None)
    return best if best is not None and shares[best] >= SAME_TITLE else None


def _near(hit: Hit, paper: Paper) -> NearestPassage:
    return NearestPassage(hit.passage.id, paper.id, paper.title, hit.passage.text, hit.dense or 0.0)


def _shared_names(query: str, papers: tuple[PaperHits, ...]) -> list[str]:
    """Return the names in a foreign question that passages found have, without duplicates."""
    names = dict.fromkeys(names_in(_OTHER_LETTERS.sub(" ", query)))
    texts = [hit.passage.text for hits in papers for hit in hits.hits]
    return [
        name
        for name in names
        if len(squashed(name)) >= SHORTEST_NAME and any(says_name(text, squashed(name)) for text in texts)
    ]


def _nearest(papers: tuple[PaperHits, ...], names: Sequence[str] = ()) -> tuple[NearestPassage, ...]:
    """Return the nearest passages, captions only if there is nothing else.

    With `names`, passages that have more of the names come first, and those without any are left out.
    """
    hits = [(hit, of_paper.paper) for of_paper in papers for hit in of_paper.hits]
    texts = [pair for pair in hits if pair[0].passage.kind != "caption"] or hits

    def names_of(pair: tuple[Hit, Paper]) -> int:
        return sum(says_name(pair[0].passage.text, squashed(name)) for name in names)

    naming = [pair for pair in texts if names_of(pair)]
    first = sorted(naming or texts, key=lambda pair: (-names_of(pair), -(pair[0].dense or 0.0)))
    return tuple(_near(hit, paper) for hit, paper in first[: thresholds().refusal.nearest])


def _missing(query: str, papers: tuple[PaperHits, ...], searched: str) -> str:
    """Return a sentence on the words of a query that no passage found has, "" if there are none."""
    texts = []
    for of_paper in papers:
        authors = " ".join(author.name for author in of_paper.paper.authors)
        texts += [f"{of_paper.paper.title}. {authors}. {hit.passage.text}" for hit in of_paper.hits]
    names, missing = missing_phrases(query, texts)
    if not texts or not missing:
        return ""
    naming = f" that names {joined(map(_quoted, names))}" if names else ""
    shown = missing[:MISSING_SAID]
    has = "the word" if len(shown) == 1 and " " not in shown[0] else "the words"
    return f"No passage found in {searched}{naming} has {has} {joined(map(_quoted, shown), 'or')}."


def _quoted(text: str) -> str:
    return f"“{text}”"


def with_coverage(answer: Answer, corpus: Corpus, scope: Scope) -> Answer:
    """Return an answer; a refusal gets the titles and main topics of what was searched."""
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
    """Yield the names without those that differ only in case, hyphens or word form."""
    seen: set[str] = set()
    for name in names:
        key = stem(squashed(name))
        if key not in seen:
            seen.add(key)
            yield name


def nothing_holds(answer: Answer) -> bool:
    """Return True if no claim of an answer is supported by its citations (the gate after writing).

    False if it cites nothing, or claims were not scored.
    """
    claims = [sentence.support for sentence in answer.sentences if sentence.citations]
    scored = [support for support in claims if support is not None]
    if not scored or len(scored) < len(claims) or answer.citation_recall:
        return False
    return max(scored) < thresholds().refusal.unsupported
