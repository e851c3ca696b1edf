"""Tables of the whole system by their commands, with a stand-in reader and a stand-in judge."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.trail.transcript import from_json
from corpus.sentences import sentence_spans
from corpus.store.corpus import Corpus
from evaluation.answers.questions import JudgedQuestion, places, read_judged
from evaluation.answers.references import read_references
from evaluation.tables.truthreader import read_chosen
from tests.evaluation.commands import measured_table
from tests.evaluation.conftest import Serve
from tests.evaluation.standin_judge import judging, shown
from tests.standin_chat import Behaviour, Received, StandinChat, cut_off, reply

NO_ANSWER = "NO ANSWER: None of the papers tells; they are about other things."
# The stand-in begins its answers with this; no passage contains it.
OPENING = "It is said that "
_PASSAGE = re.compile(r"⟦passage: [^⟧]*⟧\n(?P<text>[^⟦]+)")
_PAPER = re.compile(r"^\[(\d+)\] ⟦paper \d+⟧$", re.MULTILINE)
_QUESTION = re.compile(r"The question to answer now:\n\n(?:⟦[^⟧]*⟧\n)?(.+)")


def prompt_of(request: Received) -> str:
    return str(request.body["messages"][-1]["content"])


def question_in(request: Received) -> str:
    """Return the question that an answer is asked for, "" where something else is."""
    found = _QUESTION.search(prompt_of(request))
    return found[1].strip() if found else ""


def told_of(request: Received) -> Behaviour:
    """Say what the first sentence of the first passage says."""
    passage = _PASSAGE.search(prompt_of(request))
    assert passage
    text = passage["text"].strip()
    first, last = sentence_spans(text)[0]
    return reply(f"{OPENING}{text[first:last].rstrip('.')} [1].")


class JudgedReader:
    """Knows the sentences that answer the judged questions of a corpus, and quotes one that it is shown."""

    def __init__(self, corpus: Corpus) -> None:
        self._answers = {
            chosen.judged.question: list(_sentences(corpus, chosen.judged))
            for chosen in read_chosen()
            if chosen.judged.corpus == "demo"
        }

    def quote(self, request: Received) -> Behaviour:
        """Answer with a sentence that answers, or say that none does."""
        prompt = prompt_of(request)
        for sentence in self._answers[question_in(request)]:
            if (place := prompt.find(sentence)) >= 0:
                label = _PAPER.findall(prompt[:place])[-1]
                return reply(f"{sentence.rstrip('.')} [{label}].")
        return reply(NO_ANSWER)


def _sentences(corpus: Corpus, question: JudgedQuestion) -> Iterator[str]:
    for paper, number, sentence in places(question.full):
        (passage,) = [passage for passage in corpus.passages(paper) if passage.number == number]
        yield passage.sentence_text(sentence)


Measure = Callable[..., dict[str, Any]]


@pytest.fixture
def reader(demo_corpus: Corpus) -> JudgedReader:
    return JudgedReader(demo_corpus)


@pytest.fixture
def served(serve: Serve, reader: JudgedReader) -> StandinChat:
    return serve(reader.quote)


@pytest.fixture
def measure(tmp_path: Path, demo_home: Path) -> Measure:
    """Measure a table by its command, the demonstration being the home of what is given as a name."""

    def measure(table: str, *arguments: object, home: str = "demo") -> dict[str, Any]:
        homes = ["--home", f"{home}={demo_home}"] if home else []
        return measured_table(tmp_path, table, *homes, *arguments)

    return measure


ANSWERS, ROBUSTNESS, SYSTEM = "truthreader-answers", "truthreader-robustness", "gengo-system"
DEMO = [chosen for chosen in read_chosen() if chosen.judged.corpus == "demo"]
WITH_WRITER = ("--model", "writer", "--limit")


def test_a_model_that_quotes_what_answers_and_else_refuses_is_right(
    measure: Measure, served: StandinChat
) -> None:
    told = measure(ANSWERS, *WITH_WRITER, 4)
    _, row = told["measured"]
    assert row["system"] == "writer"
    shares = dict.fromkeys(("answer accuracy", "refusal recall", "citation precision"), 100)
    overlap = row["figures"].pop("ROUGE-L")
    assert row["figures"] == {**shares, "citations": 1}
    assert 10 < overlap < 60
    assert row["note"] == "4 of 88 questions (demo 4); 0 refused that can be answered"


def test_a_judge_compares_with_reference_answers_and_reads_citations(
    measure: Measure, served: StandinChat, reader: JudgedReader
) -> None:
    references = read_references()
    seen: list[str] = []

    def behave(request: Received) -> Behaviour:
        if not is_judging(request):
            return reader.quote(request)
        # A reply that cannot be used is asked for again, in a further message.
        prompt = str(request.body["messages"][1]["content"])
        seen.append(prompt)
        if "⟦reference answer⟧" not in prompt:
            return reply(json.dumps({"explanation": "It says so.", "holds": "⟦passage⟧" in prompt}))
        if references[DEMO[3].judged.id] in prompt:
            return reply("Certainly not.")
        holds = references[DEMO[0].judged.id] not in prompt
        return reply(json.dumps({"explanation": "As it is.", "holds": holds}))

    served.default = behave
    _, row = measure(ANSWERS, *WITH_WRITER, 4, "--judge", "judge")["measured"]
    # One answer is wrong, and one has no verdict that can be used.
    assert row["figures"]["answer accuracy"] == pytest.approx(200 / 3)
    assert row["figures"]["citation precision"] == 100
    assert "judged by judge, which found 2 of 3 answers right and 4 of 4 citations borne out" in row["note"]
    assert "1 answer left out" in row["note"]
    assert all(any(chosen.judged.question in prompt for prompt in seen) for chosen in DEMO[:4])


@pytest.mark.long
def test_a_reply_that_breaks_off_ends_the_row_and_the_next_run_goes_on(
    measure: Measure, served: StandinChat, reader: JudgedReader
) -> None:
    def behave(request: Received) -> Behaviour:
        is_third = question_in(request) == DEMO[2].judged.question
        return cut_off("It is") if is_third else reader.quote(request)

    served.default = behave
    told = measure(ANSWERS, *WITH_WRITER, 4)
    assert any(gap["what"] == "writer" and "the same command" in gap["advice"] for gap in told["missing"])
    asked_first = [question_in(request) for request in served.requests]
    served.requests.clear()
    served.default = reader.quote
    _, row = measure(ANSWERS, *WITH_WRITER, 4)["measured"]
    assert row["figures"]["answer accuracy"] == 100
    again = [question_in(request) for request in served.requests]
    assert DEMO[2].judged.question in again
    assert DEMO[0].judged.question in asked_first and DEMO[0].judged.question not in again


@pytest.mark.long
def test_the_turns_before_are_those_of_the_history(
    measure: Measure, served: StandinChat, reader: JudgedReader
) -> None:
    first, *_ = DEMO

    def behave(request: Received) -> Behaviour:
        """Rewrite a question as it was asked, and answer as the reader does."""
        return reader.quote(request) if question_in(request) else reply(first.judged.question)

    served.default = behave
    measure(ROBUSTNESS, *WITH_WRITER, 1)
    prompts = [prompt_of(request) for request in served.requests if question_in(request)]
    relevant, irrelevant = first.relevant.question, first.irrelevant.question
    before = {
        tuple(
            earlier
            for earlier in (irrelevant, relevant)
            if f"{earlier}\n" in prompt.partition("The papers:")[0]
        )
        for prompt in prompts
    }
    assert before == {(), (relevant,), (irrelevant,), (irrelevant, relevant)}
    both = next(prompt for prompt in prompts if f"{relevant}\n" in prompt and f"{irrelevant}\n" in prompt)
    assert both.index(irrelevant) < both.index(relevant) < both.index("The papers:")


MARKS = ("coherence", "consistency", "fluency", "relevance")
JUDGED = ("--model", "writer", "--judge", "judge", "--limit", "3")


def is_judging(request: Received) -> bool:
    return bool(request.body["model"] == "judge")


def test_a_judge_marks_what_all_answered_side_by_side(
    measure: Measure, served: StandinChat, tmp_path: Path
) -> None:
    judge = judging(lambda _, text: 2 if text.startswith(OPENING) else 4, MARKS)
    served.default = lambda request: judge(request) if is_judging(request) else told_of(request)
    plain, written = measure(SYSTEM, *JUDGED)["measured"]
    assert [plain["figures"][name] for name in MARKS] == [4, 4, 4, 4]
    assert [written["figures"][name] for name in MARKS] == [2, 2, 2, 2]
    assert plain["deviations"] == dict.fromkeys(MARKS, 0)
    cast = [shown(request) for request in served.requests if is_judging(request)]
    assert len(cast) == 12 and all(len(texts) == 2 for texts in cast)
    votes = [texts for texts in cast if any(text.startswith(OPENING) for text in texts)]
    assert len(votes) == 6
    # Each stands once in each place.
    assert sum(texts[0].startswith(OPENING) for texts in votes) == 3
    assert "marked with 2 generators, by judge: 6 votes on 3 questions" in plain["note"]
    trails = [from_json(file.read_text()) for file in (tmp_path / "out" / SYSTEM / "trails").rglob("*.json")]
    assert len(trails) == 6
    assert {trail.turns[0].provenance.generator for trail in trails} == {"extractive", "writer"}


@pytest.mark.parametrize(
    ("right", "counts"), [(5, "in 3, level in 0, below in 0"), (1, "in 0, level in 0, below in 3")]
)
def test_a_judge_stands_beside_its_agreement_with_judged_questions(
    measure: Measure, served: StandinChat, demo_corpus: Corpus, right: int, counts: str
) -> None:
    of_demo = [question for question in read_judged() if question.corpus == "demo"]
    answering = {text.strip() for question in of_demo for text in _sentences(demo_corpus, question)}
    judge = judging(lambda _, text: right if text.rsplit(" [", 1)[0].strip() in answering else 3, MARKS)
    served.default = lambda request: judge(request) if is_judging(request) else told_of(request)
    plain, _ = measure(SYSTEM, *JUDGED)["measured"]
    assert f"the sentence that answers above one that does not {counts}" in plain["note"]


def test_a_judge_without_a_vote_that_counts_leaves_no_row(measure: Measure, served: StandinChat) -> None:
    served.default = lambda request: reply("no marks") if is_judging(request) else told_of(request)
    told = measure(SYSTEM, *JUDGED)
    assert told["measured"] == []
    assert [gap["what"] for gap in told["missing"]] == ["extractive", "writer"]
    assert "No vote of judge is valid" in told["missing"][0]["advice"]


@pytest.mark.long
def test_without_a_home_the_demonstration_is_built(measure: Measure, tmp_path: Path) -> None:
    (row,) = measure(SYSTEM, "--limit", "1", home="")["measured"]
    assert row["figures"]["answered"] == 100
    assert (tmp_path / "out" / SYSTEM / "home" / "corpus" / "manifest.json").is_file()
