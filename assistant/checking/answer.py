"""From a draft to a checked answer: the one place where the first becomes the second."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

from assistant.checking.citations import LabelledText, check_sentences, read_labels
from assistant.checking.drafts import ReadDraft, read_draft
from assistant.checking.mending.carried import Mend, mended, with_better, with_found
from assistant.checking.refusal import ALL_THOUGHT, nothing_holds, refuse
from assistant.checking.scorer import SupportScorer
from assistant.checking.support import (
    SupportCheck,
    Weighed,
    citation_quality,
    cites_across,
    labels_across,
    without_scores,
)
from assistant.checking.thresholds import thresholds
from assistant.learned.parts import LearnedError
from assistant.learned.relevance import open_relevance
from assistant.prompts.echoes import tells_example
from assistant.prompts.render import no_answer_reason
from assistant.questions.plan import QuestionPlan
from assistant.records import (
    NOTHING_NEAR,
    Answer,
    AnswerSentence,
    Draft,
    DraftProblem,
    Evidence,
    RefusalReason,
)
from corpus.encoders.base import Encoder
from corpus.language.identified import foreign_language
from corpus.records import PaperHits


def check(
    draft: Draft,
    question: str,
    evidence: Evidence,
    papers: tuple[PaperHits, ...],
    searched: str,
    *,
    query: str = "",
    scorer: SupportScorer | None = None,
    mend: Mend = "nothing",
) -> Answer:
    """Return the checked answer: labels in one form, every sentence's citations resolved and scored.

    `mend`, where there is a scorer, says whether citations are found and unsupported claims taken out; with
    "citations", papers that support a claim better than what it cites are offered.

    A draft that claims nothing, of whose claims nothing holds, or that says that the papers do not answer,
    becomes a refusal (the gate after).
    """
    read = _without_example(read_draft(draft, question), (question, query), evidence)
    said = no_answer_reason(read.text)
    # Mending knows the ways in which small models speak of papers, and takes them out.
    known = {paper.label for paper in evidence.papers}
    labelled = read_labels(read.text, known, by_name=mend == "nothing")
    sentences = check_sentences(labelled.text, evidence)
    problems = _problems(read, labelled, sentences, is_answer=said is None)
    if said is None and sentences:
        answer = Answer(labelled.text, sentences, problems=problems)
        is_mended = mend != "nothing" and scorer is not None and not labels_across(answer.text, evidence)
        if is_mended and scorer is not None:
            answer = _mended(answer, evidence, scorer, mend)
        else:
            answer = _weighed(answer, evidence, scorer)
        if answer.sentences and not nothing_holds(answer):
            return answer
    if said and draft.finish_reason == NOTHING_NEAR:
        return refuse("not_about", papers, searched, stated=said)
    reason = _refusal_reason(draft, said, is_written=bool(sentences))
    is_all_thought = reason == "nothing_written" and draft.finish_reason == "length" and not read.text
    stated = ALL_THOUGHT if is_all_thought else ""
    refused = refuse(reason, papers, searched, query=query or question, said=said or "", stated=stated)
    return replace(refused, problems=problems)


def _without_example(read: ReadDraft, asked: tuple[str, ...], evidence: Evidence) -> ReadDraft:
    """Return a draft, with nothing to show where it speaks of the example in its prompt."""
    given = [passage.text for labelled in evidence.papers for passage in labelled.passages]
    titles = [labelled.paper.title for labelled in evidence.papers]
    if not tells_example(read.text, (*asked, *titles, *given)):
        return read
    return ReadDraft("", (*read.problems, "echo"))


def _refusal_reason(draft: Draft, said: str | None, *, is_written: bool) -> RefusalReason:
    """Return why a draft is no answer: its writer wrote nothing to check, or the papers do not carry it."""
    if said is None and draft.finish_reason != NOTHING_NEAR:
        return "not_carried" if is_written else "nothing_written"
    return "nothing_supported"


def _problems(
    read: ReadDraft, labelled: LabelledText, sentences: tuple[AnswerSentence, ...], *, is_answer: bool
) -> tuple[DraftProblem, ...]:
    cited = labelled.labels or labelled.unknown
    if not is_answer:
        return read.problems
    if not sentences:
        return (*read.problems, "labels_only") if cited else read.problems
    return read.problems if labelled.labels else (*read.problems, "no_citations")


def _weighed(answer: Answer, evidence: Evidence, scorer: SupportScorer | None) -> Answer:
    """Return the answer with its citations weighed; without a scorer it stays as it is."""
    if scorer is None:
        return answer
    weighed = SupportCheck(evidence, scorer).weigh(answer.sentences)
    across = labels_across(answer.text, evidence)
    weighed = without_scores(weighed, across, evidence)
    is_across = [cites_across(one) for one in weighed.sentences]
    quality = citation_quality(_only(weighed, [not one for one in is_across]))
    return replace(
        answer,
        sentences=weighed.sentences,
        citation_recall=quality.recall,
        citation_precision=quality.precision,
        problems=(*answer.problems, "across") if any(is_across) else answer.problems,
    )


def _mended(answer: Answer, evidence: Evidence, scorer: SupportScorer, mend: Mend) -> Answer:
    """Return the answer mended and weighed; what was found wrong of it before is told where it still is."""
    done = mended(answer.text, evidence, scorer, mend)
    sentences = check_sentences(done.text, evidence)
    is_cited = any(one.labels for one in sentences)
    problems = tuple(one for one in answer.problems if not (one == "no_citations" and is_cited))
    weighed = _weighed(Answer(done.text, sentences, problems=problems), evidence, scorer)
    marked = with_found(weighed.sentences, done.found)
    if mend == "citations":
        marked = with_better(marked, evidence, scorer)
    return replace(weighed, sentences=marked, not_carried=done.not_carried)


def _only(weighed: Weighed, chosen: Sequence[bool]) -> Weighed:
    """Return some of the sentences: of those that cite across languages nothing can be counted."""
    return Weighed(tuple(compress(weighed.sentences, chosen)), tuple(compress(weighed.needed, chosen)))


def with_relevance(answer: Answer, plan: QuestionPlan, evidence: Evidence, encoder: Encoder) -> Answer:
    """Return an answer with how likely what it says answers a question.

    A refusal stays as it is, an answer that cites nothing, and the answer to a question that names no subject
    ("What are its limits?"): nothing in its words tells what answers it.
    """
    claims = [one.claim for one in answer.sentences if one.claim]
    if answer.refusal or not answer.cited_labels or not claims or not plan.subject:
        return answer
    if foreign_language(answer.text) or plan.language:
        return answer  # The relevance score was learned in English.
    titles = {paper.label: paper.paper.title for paper in evidence.papers}
    named = [titles.get(one.labels[0], "") if one.labels else "" for one in answer.sentences if one.claim]
    try:
        relevance = open_relevance().of_answer(
            plan.query, claims, named, encoder.encode_query(plan.query), encoder.encode_passages(claims)
        )
    except LearnedError:
        return answer  # A part of one's own may be without this scale.
    return replace(answer, relevance=round(relevance, 4))


def describe_relevance(relevance: float) -> str:
    """Return in words how far an answer with this relevance is to the point."""
    bars = thresholds().relevance
    if relevance < bars.partial:
        return "may miss the question"
    return "may answer the question in part" if relevance < bars.strong else "likely answers the question"


def is_off(answer: Answer) -> bool:
    """Return True if an answer may miss its question, so that this is said before its text."""
    return answer.relevance is not None and answer.relevance < thresholds().relevance.partial
