"""The citations of an answer in reading order, what each leads to, and what checking found. No Streamlit."""

import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from assistant.checking.answer import describe_relevance, is_off
from assistant.checking.citations import hold_back, normalise_labels
from assistant.checking.overlap import is_weak, score_digits
from assistant.records import Answer, AnswerSentence, Citation, Evidence
from assistant.wording import PROBLEMS, changes
from corpus.records import Box, Paper, PaperHits, Passage
from corpus.wording import counted
from explorer.presenters.safe_text import escaped, label_offsets

CONTEXT = 190

_CITE = re.compile(r"(\d{1,4})-(\d{1,4})")


class Checked(Protocol):
    """A checked answer and the papers it cites: a turn, or a comparison."""

    @property
    def answer(self) -> Answer: ...

    @property
    def evidence(self) -> Evidence: ...


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a citation: a passage of a paper, and the sentence that supports the claim.

    `citation` is None while the answer is still being written: nothing has been checked yet. `not_said` are
    phrases of the claim that nothing its sentence cites says.
    """

    number: int
    count: int
    label: int
    paper: Paper
    passage: Passage
    sentence: int | None
    citation: Citation | None
    not_said: tuple[str, ...] = ()

    @property
    def is_supported_by_no_sentence(self) -> bool:
        """Return True if the claim was checked and no one sentence of the passage supports it.

        What is in another language than the passage was not compared with its sentences.
        """
        return self.citation is not None and self.citation.overlap is not None and self.sentence is None


@dataclass(frozen=True, slots=True)
class PassageParts:
    """A passage cut round one of its sentences."""

    before: str
    sentence: str
    after: str


def parse_cite(identifier: object) -> tuple[int, int] | None:
    """Return turn and number of a citation link's id, None for anything else."""
    found = _CITE.fullmatch(identifier) if isinstance(identifier, str) else None
    return (int(found[1]), int(found[2])) if found else None


def known_labels(checked: Checked) -> frozenset[int]:
    """Return the labels that can be followed: those of papers with a passage."""
    return frozenset(paper.label for paper in checked.evidence.papers if paper.passages)


def sources(checked: Checked) -> tuple[Source, ...]:
    """Return the source of each citation of an answer, in the order of its links."""
    papers = {paper.label: paper for paper in reversed(checked.evidence.papers)}
    passages = {
        (label, passage.id): passage
        for label, paper in papers.items()
        for passage in reversed(paper.passages)
    }
    found, unsaid = _citations(checked), _unsaid_phrases(checked.answer)
    made = []
    for number, (label, citation) in enumerate(found, start=1):
        labelled = papers[label]
        passage = passages.get((label, citation.passage_id)) if citation else None
        sentence = citation.sentence if citation else None
        shown = passage or labelled.passages[0]
        not_said = unsaid.get(citation, ()) if citation else ()
        made.append(Source(number, len(found), label, labelled.paper, shown, sentence, citation, not_said))
    return tuple(made)


def _unsaid_phrases(answer: Answer) -> dict[Citation, tuple[str, ...]]:
    """Return the phrases that are not said, by the citations of whose claims they are."""
    return {
        citation: tuple(phrase for phrase in sentence.not_said if phrase in citation.claim)
        for sentence in answer.sentences
        for citation in sentence.citations
    }


def supports(checked: Checked) -> tuple[float | None, ...]:
    """Return the support of each citation of an answer, in the order of its links."""
    return tuple(citation.support if citation else None for _, citation in _citations(checked))


def found_numbers(checked: Checked) -> frozenset[int]:
    """Return the numbers of the citations that the check found, as the links of an answer are numbered."""
    numbered = enumerate(_citations(checked), start=1)
    return frozenset(number for number, (_, citation) in numbered if citation and citation.found)


def _citations(checked: Checked) -> list[tuple[int, Citation | None]]:
    """Return the known labels of an answer in their order, each with its citation where it has one."""
    sentences = sorted(checked.answer.sentences, key=lambda sentence: sentence.start)
    starts = [sentence.start for sentence in sentences]
    found: list[tuple[int, Citation | None]] = []
    for label, offset in label_offsets(checked.answer.text, known_labels(checked)):
        at = bisect_right(starts, offset) - 1
        cited = sentences[at].citations if at >= 0 and offset < sentences[at].end else ()
        found.append((label, next((citation for citation in cited if citation.label == label), None)))
    return found


def draft_source(text: str, papers: tuple[PaperHits, ...], number: int) -> Source | None:
    """Return the source of citation `number` in an unfinished draft: the paper's best passage so far."""
    shown, known = shown_draft(text, papers)
    found = label_offsets(shown, known)
    if not 1 <= number <= len(found):
        return None
    label = found[number - 1][0]
    best = papers[label - 1]
    return Source(number, len(found), label, best.paper, best.hits[0].passage, None, None)


def shown_draft(text: str, papers: tuple[PaperHits, ...]) -> tuple[str, frozenset[int]]:
    """Return the showable part of an unfinished draft, its labels normalised, and the known labels."""
    known = frozenset(range(1, len(papers) + 1))
    return normalise_labels(hold_back(text)[0], known).text, known


def cited_sentences(answer: Answer) -> dict[str, frozenset[int]]:
    """Return the sentences that an answer cites, by the ids of their passages.

    A passage that is cited for no single sentence has none.
    """
    cited: dict[str, set[int]] = {}
    for citation in (citation for sentence in answer.sentences for citation in sentence.citations):
        of_passage = cited.setdefault(citation.passage_id, set())
        if citation.sentence is not None:
            of_passage.add(citation.sentence)
    return {passage: frozenset(numbers) for passage, numbers in cited.items()}


def passage_markdown(passage: Passage, marked: Collection[int] = ()) -> str:
    """Return the whole text of a passage as Markdown that shows exactly it, the marked sentences in bold."""
    if not passage.sentences:
        return escaped(passage.text)
    sentences = (escaped(passage.sentence_text(index)) for index in range(len(passage.sentences)))
    return " ".join(f"**{text}**" if index in marked else text for index, text in enumerate(sentences))


def first_number(found: tuple[Source, ...], label: int) -> int | None:
    """Return the number of the first citation of a paper."""
    return next((source.number for source in found if source.label == label), None)


def cut_passage(passage: Passage, sentence: int | None) -> PassageParts:
    """Return a passage in three parts, the middle one empty when no sentence is meant."""
    if sentence is None or not 0 <= sentence < len(passage.sentences):
        return PassageParts(passage.text.strip(), "", "")
    span = passage.sentences[sentence]
    return PassageParts(
        passage.text[: span.start].strip(),
        passage.text[span.start : span.end].strip(),
        passage.text[span.end :].strip(),
    )


def shorter_context(parts: PassageParts) -> PassageParts:
    """Return the parts with as much before and after the sentence as is needed to understand it."""
    if not parts.sentence:
        return parts
    before, after = parts.before, parts.after
    if len(before) > CONTEXT:
        before = f"… {before[-CONTEXT:].partition(' ')[2]}"
    if len(after) > CONTEXT:
        after = f"{after[:CONTEXT].rpartition(' ')[0]} …"
    return PassageParts(before, parts.sentence, after)


def passage_boxes(passage: Passage, sentence: int | None) -> tuple[Box, ...]:
    """Return the boxes of one sentence, or of the whole passage."""
    if sentence is not None and 0 <= sentence < len(passage.sentences):
        return passage.sentences[sentence].boxes
    return tuple(box for one in passage.sentences for box in one.boxes)


def passage_page(passage: Passage, sentence: int | None) -> int | None:
    """Return the page that a sentence begins on, or the passage's first page."""
    boxes = passage_boxes(passage, sentence)
    return boxes[0].page if boxes else passage.page


def passage_place(passage: Passage, sentence: int | None) -> str:
    """Return where a passage stands: its section path and page, as far as they are known."""
    page = passage_page(passage, sentence)
    section = passage.section_path or ("Abstract" if passage.kind == "abstract" else "")
    return ", ".join(part for part in (section, f"p. {page}" if page else "") if part)


def format_problems(answer: Answer) -> str:
    """Describe the problems of the reply and the changes to it, "" for none."""
    words = [*(PROBLEMS[problem] for problem in answer.problems), *changes(answer)]
    return " ".join([*words, "The reply as it was received is under “What was sent”."]) if words else ""


def format_not_carried(answer: Answer) -> str:
    """Return the title of the list of sentences that were taken out, "" where none were."""
    count = len(answer.not_carried)
    return f"Not carried by the papers: {counted(count, 'sentence')}" if count else ""


def better_cited(answer: Answer) -> tuple[tuple[AnswerSentence, Citation], ...]:
    """Return the sentences that another paper supports and what they cite does not, each with that paper."""
    return tuple((sentence, sentence.better) for sentence in answer.sentences if sentence.better)


def format_better(answer: Answer) -> str:
    """Return the title of the list of sentences that another paper supports better, "" for none."""
    count = len(better_cited(answer))
    return f"Supported by another paper than the one cited: {counted(count, 'sentence')}" if count else ""


def with_unsaid_phrases(answer: Answer) -> tuple[AnswerSentence, ...]:
    """Return the sentences of which what they cite does not say a phrase."""
    return tuple(sentence for sentence in answer.sentences if sentence.not_said)


def format_unsaid(answer: Answer) -> str:
    """Return the title of the list of phrases that are not said, "" for none."""
    count = sum(len(sentence.not_said) for sentence in answer.sentences)
    return f"Not said by what is cited: {counted(count, 'phrase')}" if count else ""


def uncited(answer: Answer) -> tuple[AnswerSentence, ...]:
    """Return the sentences that make a claim and cite nothing.

    Answers of a time before claims were told from other sentences have nothing counted: there each counts.
    """
    if answer.citation_recall is None:
        return tuple(one for one in answer.sentences if not one.citations)
    return tuple(one for one in answer.sentences if one.needs_citation)


def uncited_ends(answer: Answer) -> tuple[int, ...]:
    """Return where the sentences end that make a claim and cite nothing."""
    return tuple(
        sentence.start + len(answer.text[sentence.start : sentence.end].rstrip())
        for sentence in uncited(answer)
    )


def invented(answer: Answer) -> tuple[AnswerSentence, ...]:
    """Return the sentences with labels of papers that their writer was never given."""
    return tuple(one for one in answer.sentences if one.unknown_labels)


def format_without_source(answer: Answer) -> str:
    """Count the invented labels and the claims that cite nothing, "" for none."""
    labels = sum(len(one.unknown_labels) for one in invented(answer))
    claims = len(uncited(answer))
    parts = [
        labels and f"{counted(labels, 'label')} {'names' if labels == 1 else 'name'} no paper that was given",
        claims and format_uncited(claims),
    ]
    return " · ".join(part for part in parts if part)


def weak_numbers(checked: Checked) -> tuple[int, ...]:
    """Return, for each sentence that what it cites hardly supports, the number of its first citation."""
    weak = [one for one in checked.answer.sentences if is_weak(one)]
    first: dict[Citation, int] = {}
    for number, (_, citation) in enumerate(_citations(checked) if weak else (), start=1):
        if citation:
            first.setdefault(citation, number)
    firsts = (min((first[one] for one in sentence.citations if one in first), default=0) for sentence in weak)
    return tuple(filter(None, firsts))


def format_off(answer: Answer) -> str:
    """Return the warning before an answer that may miss its question, "" for any other."""
    return "This may miss what you asked: read it as what comes nearest." if is_off(answer) else ""


def format_weak(count: int) -> str:
    return f"{counted(count, 'sentence')} {'is' if count == 1 else 'are'} only weakly supported"


def format_uncited(count: int) -> str:
    return f"{counted(count, 'sentence')} {'makes' if count == 1 else 'make'} a claim without a citation"


def format_claims(answer: Answer) -> str:
    """Describe the relevance of an answer, and how many claims and citations hold (ALCE, section 4).

    It is "" where nothing of it was measured.
    """
    parts = []
    if answer.relevance is not None:
        parts.append(f"Relevance {score_digits(answer.relevance)}: {describe_relevance(answer.relevance)}")
    claims = [one for one in answer.sentences if one.labels or one.unknown_labels or one.needs_citation]
    if answer.citation_recall is not None and claims:
        held = round(answer.citation_recall * len(claims))
        is_one = 1 in (held, len(claims))
        verb = "is supported by what it cites" if is_one else "are supported by what they cite"
        parts.append(f"{held} of {counted(len(claims), 'claim')} {verb}")
    citations = sum(len(one.citations) + len(one.unknown_labels) for one in claims)
    if answer.citation_precision is not None and citations:
        useful = round(answer.citation_precision * citations)
        verb = "is" if 1 in (useful, citations) else "are"
        parts.append(f"{useful} of {counted(citations, 'citation')} {verb} needed for that")
    return " · ".join(parts)
