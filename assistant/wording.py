"""A turn's record in plain words, for files and the terminal; nothing is escaped."""

from collections.abc import Iterable, Iterator, Sequence

from assistant.checking.overlap import CITATION_SCORES, is_weak, score_digits
from assistant.checking.scores.registry import measured_scores
from assistant.records import (
    Answer,
    AnswerSentence,
    Call,
    DraftProblem,
    Parameters,
    Provenance,
    RequestKind,
    SecondSearch,
    Turn,
)
from assistant.verdicts import Feedback, Verdict
from corpus.language.names import language_name
from corpus.records import Passage, Scope
from corpus.wording import counted

KINDS: dict[RequestKind, str] = {
    "synthesis": "synthesis of several papers",
    "how": "how or why",
    "summary": "summary of one paper",
    "fact": "question of fact",
    "list": "list of papers",
    "definition": "definition",
    "comparison": "comparison of two",
}
PROBLEMS: dict[DraftProblem, str] = {
    "interrupted": "The reply ended in the middle: its server ended it, or fell silent.",
    "cut_short": "The reply reached the longest length allowed and ends early.",
    "no_citations": "The reply cites no paper: nothing in it could be checked.",
    "labels_only": "The reply held labels without sentences.",
    "structured": "The reply was data where sentences were asked for.",
    "too_long": "The reply was far longer than asked for: only its beginning is shown.",
    "markup": "The reply held markup.",
    "language": "The reply is not in the language of the question.",
    "empty": "The reply was empty.",
    "echo": "The reply repeats what the model was sent.",
    "looped": "The reply says one thing over and over.",
    "filtered": "The reply was cut by its server's content filter.",
    "across": "The answer is in another language than papers it cites: of what cites them "
    "only the numbers were checked. Read the passages.",
}
VERDICTS: dict[Verdict, str] = {"good": "good", "bad": "not good"}
_SMALLEST_PRICE = 0.0001


def searched_for(turn: Turn) -> str:
    """Return the search query and where it came from."""
    earlier = [str(index + 1) for index in turn.rewrite.used_turns]
    source = ", the reader's own query" if turn.rewrite.edited else ""
    source += f", translated from {language_name(turn.rewrite.language)}" if turn.rewrite.language else ""
    source += f", drawing on turn{'s' if len(earlier) > 1 else ''} {', '.join(earlier)}" if earlier else ""
    source += "".join(f", {short} as {long}" for short, long in turn.rewrite.abbreviations)
    first = f"Searched for: {turn.rewrite.searched_for} ({KINDS[turn.rewrite.kind]}{source})"
    again = " ".join(map(searched_again, turn.second_searches))
    return f"{first}. {again}" if again else first


def searched_again(second: SecondSearch) -> str:
    """Return the query of a second search, the part of the question it was made for, and its result."""
    result = "" if second.joined else " Nothing it found answers that."
    return f"Searched again for: {second.query} (the part “{second.part}” was left open).{result}"


def describe_scope(scope: Scope) -> str:
    """Describe the searched part of the corpus."""
    parts = [
        scope.collections and f"collections {', '.join(scope.collections)}",
        scope.papers and f"papers {', '.join(scope.papers)}",
        scope.years and f"years {scope.years[0]} to {scope.years[1]}",
        scope.topics and f"topics {', '.join(scope.topics)}",
        scope.venues and f"venues {', '.join(scope.venues)}",
        scope.authors and f"authors {', '.join(scope.authors)}",
        scope.languages and f"languages {', '.join(scope.languages)}",
        scope.labels and f"labels {', '.join(scope.labels)}",
    ]
    return "; ".join(part for part in parts if part) or "the whole corpus"


def describe_score(name: str, score: float | None) -> str:
    """Return "overlap 0.52 partial"; a score that was not measured is never a zero."""
    if score is None:
        return f"{name}: no score"
    return f"{name} {score_digits(score)} {CITATION_SCORES[name](score)}"


def place(passage: Passage) -> str:
    """Return where a passage stands in its paper."""
    section = passage.section_path or passage.kind
    return f"{section}, page {passage.page}" if passage.page else section


def checked(answer: Answer) -> str:
    """Describe the scores of an answer, "" if none was measured."""
    return "; ".join(score.describe(value) for score, value in measured_scores(answer))


def changes(answer: Answer) -> tuple[str, ...]:
    """Describe the changes that the check made to the text, a sentence each."""
    sentences = []
    if answer.stands_in_for:
        model = answer.stands_in_for.rstrip("/").rpartition("/")[2]  # without a folder of this machine
        sentences.append(f"This is the extractive answer: that of {model} could not be used. {answer.remark}")
    elif answer.remark:
        sentences.append(answer.remark)
    if count := sum(citation.found for sentence in answer.sentences for citation in sentence.citations):
        verb = "was" if count == 1 else "were"
        sentences.append(
            f"{counted(count, 'citation')} {verb} found by the check: the writer had given none, or one that "
            "does not support the claim."
        )
    if count := len(answer.not_carried):
        verb = "was" if count == 1 else "were"
        sentences.append(f"{counted(count, 'sentence')} that no paper supports {verb} taken out.")
    return tuple(sentences)


def notices(answer: Answer) -> tuple[str, ...]:
    """Return the problems of the text, the changes to it, and claims that their citations do not support."""
    problems = (PROBLEMS[problem] for problem in answer.problems)
    taken_out = (f"Not carried by the papers: “{claim}”" for claim in answer.not_carried)
    better = (
        f"Supported by [{sentence.better.label}], not by what it cites: “{sentence.claim}”"
        for sentence in answer.sentences
        if sentence.better
    )
    unsaid = (
        f"{describe_unsaid(sentence.not_said)} In: “{sentence.claim}”"
        for sentence in answer.sentences
        if sentence.not_said
    )
    return (*problems, *changes(answer), *taken_out, *better, *unsaid)


def describe_unsaid(phrases: Sequence[str]) -> str:
    """Return the phrases of a sentence that what it cites does not say, in words."""
    return f"Not said by what it cites: {', '.join(f'“{phrase}”' for phrase in phrases)}."


def sentence_warnings(sentence: AnswerSentence | None, unknown_labels: Iterable[str]) -> Iterator[str]:
    """Yield warnings on a sentence: weak support, no citation, labels of no paper."""
    if sentence and is_weak(sentence):
        score = "" if sentence.support is None else f" (support {score_digits(sentence.support)})"
        yield f"Only weakly supported{score} by what it cites."
    if sentence and sentence.needs_citation:
        yield "Makes a claim and cites nothing."
    yield from (f"[{label}?] names no paper that was given." for label in unknown_labels)


def describe_parameters(parameters: Parameters) -> str:
    """Describe a model's generation parameters, without those left to its server."""
    facts = [f"temperature {parameters.temperature:g}", f"top-p {parameters.top_p:g}"]
    if parameters.top_k is not None:
        facts.append(f"top-k {parameters.top_k}")
    if parameters.repetition_penalty is not None:
        facts.append(f"repetition penalty {parameters.repetition_penalty:g}")
    return ", ".join([*facts, f"at most {parameters.max_tokens:,} tokens"])


def call_facts(call: Call) -> Iterator[str]:
    """Yield the facts of a call: time, ending, cost, and problems."""
    yield f"{call.seconds:.2f} s, ended with {call.finish_reason}"
    if call.served:
        yield f"written by {call.served}, as the server says, where {call.model} was asked for"
    if call.parameters:
        yield describe_parameters(call.parameters)
    yield from spent(call.prompt_tokens, call.completion_tokens, call.price)
    if call.first_token_seconds is not None:
        yield f"first word after {call.first_token_seconds:.2f} s"
    if call.attempts > 1:
        yield f"sent {call.attempts} times"
    if call.not_taken:
        yield f"its server does not take {', '.join(call.not_taken)}: left out of the request"
    if call.problem:
        yield call.problem
    if call.left_out:
        yield f"left out: {', '.join(call.left_out)}"


def spent(sent: int | None, received: int | None, price: float | None) -> Iterator[str]:
    """Yield tokens and price as far as they are known."""
    if sent is not None or received is not None:
        yield f"{_known(sent)} tokens sent, {_known(received)} received"
    if price is not None:
        yield format_price(price)


def format_price(dollars: float) -> str:
    """Return a price in dollars with two or four decimals, "less than ..." for a tiny one."""
    if 0 < dollars < _SMALLEST_PRICE:
        return f"less than ${_SMALLEST_PRICE}"
    return f"${dollars:.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}"


def _known(count: int | None) -> str:
    return "unknown" if count is None else f"{count:,}"


def provenance_facts(turn: Turn) -> Iterator[str]:
    """Yield when and from what a turn was made, its writer, step times, cost and versions."""
    made = turn.provenance
    yield f"asked {turn.asked}"
    yield f"searched {describe_scope(turn.scope)}"
    yield f"{turn.papers_wanted} papers wanted"
    if turn.drafts > 1:
        yield f"best of {turn.drafts} drafts"
    yield f"written by {made.generator}{served_by(turn.calls)}"
    yield ", ".join(f"{step.step} {step.seconds:.2f} s" for step in turn.seconds)
    yield from spent(turn.usage.prompt_tokens, turn.usage.completion_tokens, turn.usage.price)
    yield from made_with(made)


def served_by(calls: Iterable[Call]) -> str:
    """Describe the models that replied in place of the requested one, "" for none."""
    served = sorted({call.served for call in calls if call.served})
    return f" (by what the server says, {' and '.join(served)} has written)" if served else ""


def made_with(made: Provenance) -> Iterator[str]:
    """Yield the encoder, scorer, learned parts, corpus versions and product of a result."""
    yield f"encoder {' in '.join(filter(None, (made.encoder, made.encoder_runtime)))}"
    if made.scorer:
        yield f"support scored by {made.scorer}"
    if made.learned:
        yield f"learned parts: {', '.join(made.learned)}"
    if made.passages:
        yield f"passages of {' and '.join(map(str, made.passages))}"
    yield "corpus versions " + ", ".join(f"{entry.table} {entry.version}" for entry in made.corpus)
    yield made.product


def describe_feedback(feedback: Feedback) -> Iterator[str]:
    """Yield the reader's verdict and wrong citations, a line each."""
    if feedback.verdict:
        yield f"A reader found this answer {VERDICTS[feedback.verdict]}."
    for wrong in feedback.wrong_citations:
        why = f": {wrong.note}" if wrong.note else "."
        yield f"A reader found citation [{wrong.label}] of “{wrong.claim}” wrong ({wrong.passage_id}){why}"
