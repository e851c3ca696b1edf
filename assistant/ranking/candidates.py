"""The sentences that an answer may quote, and their wording with a citation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.checking.citations import without_labels
from assistant.checking.overlap import overlap_word, score_attribution
from assistant.questions.abbreviations import with_forms
from assistant.questions.vocabulary import content_words, stems, vocabulary
from assistant.reading.cells import asked_cells
from assistant.reading.standing_alone import has_lost_a_name, is_back_matter, is_quotable, leans, points_away
from assistant.reading.telling import plain, short_title, speaks_of_itself, told
from assistant.records import Evidence, LabelledPaper
from corpus.encoders.base import Encoder
from corpus.encoders.scale import cosine_scales
from corpus.language.abbreviations import Form
from corpus.language.stemming import ENGLISH, spelt_as
from corpus.records import AspectName, Passage
from corpus.sentences import with_repeats
from corpus.text import words

_OF_WRITING = frozenset(
    "author authored authors by collection corpus publish published volume write writes written wrote".split()
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be used in an answer, with its paper and passage."""

    paper: LabelledPaper
    passage: Passage
    sentence: int
    text: str
    stems: frozenset[str]

    @property
    def is_row(self) -> bool:
        return self.sentence >= self.passage.first_row


def quotable_sentences(evidence: Evidence, query: str = "", forms: Sequence[Form] = ()) -> list[Candidate]:
    """Return the sentences that may be quoted, without rows of tables.

    Both `forms` of an abbreviation in the query count as one.
    """
    signed = {paper.label: _signed(paper, query) for paper in evidence.papers}
    return [
        Candidate(
            paper,
            passage,
            index,
            text,
            spelt_as(query, text, stems(with_forms(text, forms)) | signed[paper.label]),
        )
        for paper in evidence.papers
        for passage, repeated in with_repeats(paper.passages)
        if not any(is_back_matter(section.title) for section in passage.section)
        for index in range(repeated, passage.first_row)
        if is_quotable(text := passage.sentence_text(index), paper.paper.language)
        and text != paper.paper.title
    ]


def _signed(paper: LabelledPaper, query: str) -> frozenset[str]:
    """Return the stems of a paper's authors that a query names in full; they count for all its sentences."""
    query_text = f" {' '.join(words(query))} "
    names = (" ".join(words(author.name)) for author in paper.paper.authors)
    return stems(" ".join(name for name in names if name and f" {name} " in query_text))


def rows_asked_for(query: str, evidence: Evidence) -> list[Candidate]:
    """Return the rows of tables that answer a question, with the columns it names."""
    tables = {
        passage.id: (paper, passage)
        for paper in evidence.papers
        for passage in paper.passages
        if passage.table
    }
    read = [(passage, f"{paper.paper.title} {paper.paper.abstract}") for paper, passage in tables.values()]
    return [
        Candidate(tables[cells.passage.id][0], cells.passage, cells.sentence, cells.text, stems(cells.text))
        for cells in asked_cells(query, read)
    ]


def papers_by_author(query: str, evidence: Evidence) -> list[Candidate]:
    """Return one sentence from each paper by an author whom the query names in full.

    Empty if it names nobody, or asks for more than their papers.
    """
    query_words = words(query)
    by_whom = [
        paper
        for paper in evidence.papers
        if any(
            (bool(author.given) and f" {' '.join(words(author.name))} " in f" {' '.join(query_words)} ")
            for author in paper.paper.authors
        )
    ]
    names = {word for paper in by_whom for author in paper.paper.authors for word in words(author.name)}
    if set(content_words(query)) - names - vocabulary().frame - _OF_WRITING:
        return []
    told = (next(aspects_of(paper, "approach", "outcome", "challenge"), None) for paper in by_whom)
    return [line for line in told if line]


def candidate_at(paper: LabelledPaper, passage: int, sentence: int) -> Candidate | None:
    """Return sentence `sentence` of passage number `passage`, None if the evidence does not have it."""
    for held in paper.passages:
        if held.number == passage and sentence < len(held.sentences):
            text = held.sentence_text(sentence)
            return Candidate(paper, held, sentence, text, stems(text))
    return None


def readable(candidate: Candidate) -> list[Candidate]:
    """Return a sentence, after the one before it if it refers to that; [] if that cannot be read alone."""
    if not _leans(candidate):
        return [candidate]
    if not candidate.sentence:
        return []
    before = candidate_at(candidate.paper, candidate.passage.number, candidate.sentence - 1)
    is_fit = before and is_quotable(before.text) and stays_true(before) and not _leans(before)
    return [before, candidate] if before and is_fit else []


def _leans(candidate: Candidate) -> bool:
    text = plain(candidate.text)
    return leans(text) or points_away(text)


def stays_true(candidate: Candidate) -> bool:
    """Return True if a sentence in the third person is still complete and close to its passage's words."""
    if has_lost_a_name(plain(candidate.text)):
        return False
    if not speaks_of_itself(candidate.text):
        return True
    overlap = score_attribution(rephrased(candidate), candidate.passage.text)
    return overlap_word(overlap) == "strong"


def aspects_of(paper: LabelledPaper, *names: AspectName) -> Iterator[Candidate]:
    """Yield the sentences that the indexer chose as those aspects of a paper, in the order of `names`."""
    for name in names:
        for aspect in paper.paper.aspects:
            candidate = candidate_at(paper, aspect.passage, aspect.sentence) if aspect.name == name else None
            if candidate and stays_true(candidate) and not leans(candidate.text):
                yield candidate


def distinct(texts: Sequence[str], encoder: Encoder, alike: float) -> list[int]:
    """Return the indices of texts whose cosine with each earlier kept text is below `alike`."""
    if not texts:
        return []
    vectors = encoder.encode_passages(texts)
    likeness = cosine_scales(encoder).alike(vectors @ vectors.T)
    kept: list[int] = []
    for index in range(len(texts)):
        if all(likeness[index, other] < alike for other in kept):
            kept.append(index)
    return kept


def cited(candidate: Candidate) -> str:
    sentence = rephrased(candidate)
    body, stop = (sentence[:-1], sentence[-1]) if sentence[-1] in ".!" else (sentence, ".")
    return f"{without_labels(body)} [{candidate.paper.label}]{stop}"


def listed(candidate: Candidate) -> str:
    """Return a sentence of a paper after its title, with its citation."""
    title = " ".join(without_labels(candidate.paper.paper.title).replace("“", "").replace("”", "").split())
    line, name = cited(candidate), f"“{short_title(title)}” "
    return f"“{title}”: {'The paper ' + line.removeprefix(name) if line.startswith(name) else line}"


def rephrased(candidate: Candidate) -> str:
    paper = candidate.paper.paper
    if candidate.is_row or paper.language not in ("", ENGLISH):
        return candidate.text  # Cells are no prose, and the third person is known in English alone.
    return told(plain(candidate.text), paper.authors, paper.title)
