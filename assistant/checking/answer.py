"""The check, which alone turns a draft into an answer."""

from dataclasses import replace
from itertools import compress

from assistant.checking.citations import LabelledText, check_sentences, read_labels
from assistant.checking.drafts import ReadDraft, read_draft
from assistant.checking.mending.carried import Mend, mended, with_better, with_found
from assistant.checking.refusal import ALL_THOUGHT, nothing_holds, refuse
from assistant.checking.scorer import SupportScorer
from assistant.checking.scores.registry import CITING_SCORES, measure_scores
from assistant.checking.support import (
    SupportCheck,
    Weighed,
    cites_across,
    labels_across,
    without_scores,
)
from assistant.prompts.echoes import tells_example
from assistant.prompts.render import no_answer_reason
from assistant.records import (
    NOTHING_NEAR,
    Answer,
    AnswerSentence,
    Draft,
    DraftProblem,
    Evidence,
    RefusalReason,
)
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
    """Return the checked answer: labels normalised, every sentence's citations resolved and scored.

    With a scorer, `mend` says whether citations are found and unsupported claims removed; with "citations",
    papers that support a claim better than its own citations are offered.

    A draft without claims, without any supported claim, or that says that the papers do not answer, becomes a
    refusal (the gate after writing).
    """
    read = _without_example(read_draft(draft, question), (question, query), evidence)
    no_answer = no_answer_reason(read.text)
    # Mending removes the phrases by which small models name papers.
    known = {paper.label for paper in evidence.papers}
    labelled = read_labels(read.text, known, by_name=mend == "nothing")
    sentences = check_sentences(labelled.text, evidence)
    problems = _problems(read, labelled, sentences, is_answer=no_answer is None)
    if no_answer is None and sentences:
        answer = Answer(labelled.text, sentences, problems=problems)
        is_mended = mend != "nothing" and scorer is not None and not labels_across(answer.text, evidence)
        if is_mended and scorer is not None:
            answer = _mended(answer, evidence, scorer, mend)
        else:
            answer = _weighed(answer, evidence, scorer)
        if answer.sentences and not nothing_holds(answer):
            return answer
    if no_answer and draft.finish_reason == NOTHING_NEAR:
        return refuse("not_about", papers, searched, stated=no_answer)
    reason: RefusalReason = "nothing_supported"
    if no_answer is None and draft.finish_reason != NOTHING_NEAR:
        reason = "not_carried" if sentences else "nothing_written"
    is_all_thought = reason == "nothing_written" and draft.finish_reason == "length" and not read.text
    stated = ALL_THOUGHT if is_all_thought else ""
    refused = refuse(reason, papers, searched, query=query or question, said=no_answer or "", stated=stated)
    return replace(refused, problems=problems)


def _without_example(read: ReadDraft, asked: tuple[str, ...], evidence: Evidence) -> ReadDraft:
    """Return a draft, with an empty text if it continues the example in its prompt."""
    texts = [passage.text for labelled in evidence.papers for passage in labelled.passages]
    titles = [labelled.paper.title for labelled in evidence.papers]
    if not tells_example(read.text, (*asked, *titles, *texts)):
        return read
    return ReadDraft("", (*read.problems, "echo"))


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
    is_across = [cites_across(sentence) for sentence in weighed.sentences]
    judged = [not sentence for sentence in is_across]
    within = Weighed(tuple(compress(weighed.sentences, judged)), tuple(compress(weighed.needed, judged)))
    return replace(
        answer,
        sentences=weighed.sentences,
        problems=(*answer.problems, "across") if any(is_across) else answer.problems,
        **measure_scores(CITING_SCORES, within),
    )


def _mended(answer: Answer, evidence: Evidence, scorer: SupportScorer, mend: Mend) -> Answer:
    """Return the answer mended and weighed, with the problems that remain."""
    draft = mended(answer.text, evidence, scorer, mend)
    sentences = check_sentences(draft.text, evidence)
    is_cited = any(sentence.labels for sentence in sentences)
    problems = tuple(problem for problem in answer.problems if not (problem == "no_citations" and is_cited))
    weighed = _weighed(Answer(draft.text, sentences, problems=problems), evidence, scorer)
    marked = with_found(weighed.sentences, draft.found)
    if mend == "citations":
        marked = with_better(marked, evidence, scorer)
    return replace(weighed, sentences=marked, not_carried=draft.not_carried)
