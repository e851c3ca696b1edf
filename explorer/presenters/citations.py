"""The citations of an answer in reading order, their sources, and the findings of the check. No Streamlit."""

import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from assistant.checking.citations import hold_back, normalise_labels
from assistant.checking.overlap import is_weak
from assistant.checking.scores.registry import measured_scores
from assistant.checking.scores.relevance import is_off
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

    `citation` is None while the answer is being written. `not_said` are phrases of the claim that no passage
    cited by its sentence says.
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
        """Return True if the claim was checked and no single sentence of the passage supports it.

        False for a claim in another language than the passage, which has no overlap.
        """
        return self.citation is not None and self.citation.overlap is not None and self.sentence is None


@dataclass(frozen=True, slots=True)
class PassageParts:
    """A passage split at one of its sentences."""

    before: str
    sentence: str
    after: str


def parse_cite(identifier: object) -> tuple[int, int] | None:
    """Return turn and number of a citation link's id, None if it is not one."""
    match = _CITE.fullmatch(identifier) if isinstance(identifier, str) else None
    return (int(match[1]), int(match[2])) if match else None


def known_labels(checked: Checked) -> frozenset[int]:
    """Return the labels of the papers that have a passage."""
    return frozenset(paper.label for paper in checked.evidence.papers if paper.passages)


def sources(checked: Checked) -> tuple[Source, ...]:
    """Return the source of each citation of an answer, in the order of its links."""
    papers = {paper.label: paper for paper in reversed(checked.evidence.papers)}
    passages = {
        (label, passage.id): passage
        for label, paper in papers.items()
        for passage in reversed(paper.passages)
    }
    cited, unsaid = _citations(checked), _unsaid_phrases(checked.answer)
    made = []
    for number, (label, citation) in enumerate(cited, start=1):
        labelled = papers[label]
        passage = passages.get((label, citation.passage_id)) if citation else None
        sentence = citation.sentence if citation else None
        shown = passage or labelled.passages[0]
        not_said = unsaid.get(citation, ()) if citation else ()
        made.append(Source(number, len(cited), label, labelled.paper, shown, sentence, citation, not_said))
    return tuple(made)


def _unsaid_phrases(answer: Answer) -> dict[Citation, tuple[str, ...]]:
    """Return the phrases of each citation's claim that are not said."""
    return {
        citation: tuple(phrase for phrase in sentence.not_said if phrase in citation.claim)
        for sentence in answer.sentences
        for citation in sentence.citations
    }


def supports(checked: Checked) -> tuple[float | None, ...]:
    """Return the support of each citation of an answer, in the order of its links."""
    return tuple(citation.support if citation else None for _, citation in _citations(checked))


def found_numbers(checked: Checked) -> frozenset[int]:
    """Return the link numbers of the citations that the check found."""
    numbered = enumerate(_citations(checked), start=1)
    return frozenset(number for number, (_, citation) in numbered if citation and citation.found)


def _citations(checked: Checked) -> list[tuple[int, Citation | None]]:
    """Return the known labels of an answer in order, each with its citation, None if it has none."""
    sentences = sorted(checked.answer.sentences, key=lambda sentence: sentence.start)
    starts = [sentence.start for sentence in sentences]
    labelled: list[tuple[int, Citation | None]] = []
    for label, offset in label_offsets(checked.answer.text, known_labels(checked)):
        index = bisect_right(starts, offset) - 1
        cited = sentences[index].citations if index >= 0 and offset < sentences[index].end else ()
        labelled.append((label, next((citation for citation in cited if citation.label == label), None)))
    return labelled


def draft_source(text: str, papers: tuple[PaperHits, ...], number: int) -> Source | None:
    """Return the source of citation `number` in an unfinished draft: the paper's best passage so far."""
    shown, known = shown_draft(text, papers)
    labels = label_offsets(shown, known)
    if not 1 <= number <= len(labels):
        return None
    label = labels[number - 1][0]
    best = papers[label - 1]
    return Source(number, len(labels), label, best.paper, best.hits[0].passage, None, None)


def shown_draft(text: str, papers: tuple[PaperHits, ...]) -> tuple[str, frozenset[int]]:
    """Return the part of an unfinished draft to show, with normalised labels, and the known labels."""
    known = frozenset(range(1, len(papers) + 1))
    return normalise_labels(hold_back(text)[0], known).text, known


def cited_sentences(answer: Answer) -> dict[str, frozenset[int]]:
    """Return the cited sentences by passage id, empty for a passage that is cited as a whole."""
    cited: dict[str, set[int]] = {}
    for citation in (citation for sentence in answer.sentences for citation in sentence.citations):
        numbers = cited.setdefault(citation.passage_id, set())
        if citation.sentence is not None:
            numbers.add(citation.sentence)
    return {passage: frozenset(numbers) for passage, numbers in cited.items()}


def passage_markdown(passage: Passage, marked: Collection[int] = ()) -> str:
    """Return the text of a passage as escaped Markdown, with the marked sentences in bold."""
    if not passage.sentences:
        return escaped(passage.text)
    sentences = (escaped(passage.sentence_text(index)) for index in range(len(passage.sentences)))
    return " ".join(f"**{text}**" if index in marked else text for index, text in enumerate(sentences))


def first_number(cited: tuple[Source, ...], label: int) -> int | None:
    """Return the number of the first citation of a paper."""
    return next((source.number for source in cited if source.label == label), None)


def cut_passage(passage: Passage, sentence: int | None) -> PassageParts:
    """Split a passage before and after a sentence; without a sentence all of it is `before`."""
    if sentence is None or not 0 <= sentence < len(passage.sentences):
        return PassageParts(passage.text.strip(), "", "")
    span = passage.sentences[sentence]
    return PassageParts(
        passage.text[: span.start].strip(),
        passage.text[span.start : span.end].strip(),
        passage.text[span.end :].strip(),
    )


def shorter_context(parts: PassageParts) -> PassageParts:
    """Shorten the text before and after the sentence to about `CONTEXT` characters each."""
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
    return tuple(box for sentence in passage.sentences for box in sentence.boxes)


def passage_page(passage: Passage, sentence: int | None) -> int | None:
    """Return the page that a sentence begins on, or the passage's first page."""
    boxes = passage_boxes(passage, sentence)
    return boxes[0].page if boxes else passage.page


def passage_place(passage: Passage, sentence: int | None) -> str:
    """Return the section path and page of a passage, as far as they are known."""
    page = passage_page(passage, sentence)
    section = passage.section_path or ("Abstract" if passage.kind == "abstract" else "")
    return ", ".join(part for part in (section, f"p. {page}" if page else "") if part)


def format_problems(answer: Answer) -> str:
    """Describe the problems of the reply and the changes to it, "" for none."""
    words = [*(PROBLEMS[problem] for problem in answer.problems), *changes(answer)]
    return " ".join([*words, "The reply as it was received is under “What was sent”."]) if words else ""


def format_not_carried(answer: Answer) -> str:
    """Return the title of the list of sentences that were taken out, "" if there are none."""
    count = len(answer.not_carried)
    return f"Not carried by the papers: {counted(count, 'sentence')}" if count else ""


def better_cited(answer: Answer) -> tuple[tuple[AnswerSentence, Citation], ...]:
    """Return the sentences that another paper supports better than the cited one, with that citation."""
    return tuple((sentence, sentence.better) for sentence in answer.sentences if sentence.better)


def format_better(answer: Answer) -> str:
    """Return the title of the list of sentences that another paper supports better, "" for none."""
    count = len(better_cited(answer))
    return f"Supported by another paper than the one cited: {counted(count, 'sentence')}" if count else ""


def with_unsaid_phrases(answer: Answer) -> tuple[AnswerSentence, ...]:
    """Return the sentences with a phrase that their cited passages do not say."""
    return tuple(sentence for sentence in answer.sentences if sentence.not_said)


def format_unsaid(answer: Answer) -> str:
    """Return the title of the list of phrases that are not said, "" for none."""
    count = sum(len(sentence.not_said) for sentence in answer.sentences)
    return f"Not said by what is cited: {counted(count, 'phrase')}" if count else ""


def uncited(answer: Answer) -> tuple[AnswerSentence, ...]:
    """Return the sentences that make a claim and cite nothing.

    Older answers, without citation recall, do not record claims: there every sentence counts as one.
    """
    has_claims = answer.citation_recall is not None
    return tuple(
        sentence
        for sentence in answer.sentences
        if (sentence.needs_citation if has_claims else not sentence.citations)
    )


def uncited_ends(answer: Answer) -> tuple[int, ...]:
    """Return the end offsets of the sentences that make a claim and cite nothing."""
    return tuple(
        sentence.start + len(answer.text[sentence.start : sentence.end].rstrip())
        for sentence in uncited(answer)
    )


def invented(answer: Answer) -> tuple[AnswerSentence, ...]:
    """Return the sentences with labels that the evidence does not have."""
    return tuple(sentence for sentence in answer.sentences if sentence.unknown_labels)


def format_without_source(answer: Answer) -> str:
    """Return the numbers of invented labels and of uncited claims in words, "" for none."""
    labels = sum(len(sentence.unknown_labels) for sentence in invented(answer))
    claims = len(uncited(answer))
    parts = [
        labels and f"{counted(labels, 'label')} {'names' if labels == 1 else 'name'} no paper that was given",
        claims
        and f"{counted(claims, 'sentence')} {'makes' if claims == 1 else 'make'} a claim without a citation",
    ]
    return " · ".join(part for part in parts if part)


def weak_numbers(checked: Checked) -> tuple[int, ...]:
    """Return the number of the first citation of each weakly supported sentence."""
    weak = [sentence for sentence in checked.answer.sentences if is_weak(sentence)]
    first: dict[Citation, int] = {}
    for number, (_, citation) in enumerate(_citations(checked) if weak else (), start=1):
        if citation:
            first.setdefault(citation, number)
    numbers = ([first[citation] for citation in sentence.citations if citation in first] for sentence in weak)
    return tuple(min(of_sentence) for of_sentence in numbers if of_sentence)


def format_off(answer: Answer) -> str:
    """Return the warning of an answer that may miss its question, "" for any other."""
    return "This may miss what you asked: read it as what comes nearest." if is_off(answer) else ""


def format_weak(count: int) -> str:
    return f"{counted(count, 'sentence')} {'is' if count == 1 else 'are'} only weakly supported"


def format_claims(answer: Answer) -> str:
    """Describe the scores of an answer, "" if none was measured."""
    return " · ".join(filter(None, (score.show(answer, value) for score, value in measured_scores(answer))))
