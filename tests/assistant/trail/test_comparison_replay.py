"""Comparisons done again from their files, and forged ones, which no replay calls equal."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.comparing.compare import Comparer
from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.exports.markdown import comparison_to_markdown
from assistant.records import Parameters
from assistant.storage.comparisons import ComparisonStore
from assistant.trail.comparison_file import comparison_from_json, comparison_to_json
from assistant.trail.comparison_replay import replay_comparison
from corpus.encoders.base import SentenceEncoder
from corpus.settings import read_settings
from corpus.store.element_cache import ElementStore
from tests.assistant.comparing.compared_papers import (
    ABOUT,
    compared,
    open_compared_corpus,
    request_for,
)
from tests.assistant.comparing.comparing_model import ComparingModel, kind_of, vote_reply_text
from tests.standin_chat import cut_off, refusal, reply

EXTRACTIVE_CRITERIA = ["coverage", "comparisons", "support", "redundancy"]
STEPS = ["papers", "elements", "rounds", "summary", "check", "calls"]


@pytest.fixture
def home(shelf_home):
    return shelf_home


@pytest.fixture(scope="module")
def compare(comparing):
    """Return a function that compares with a stand-in model, and writes and reads the comparison."""

    def through_a_file(model, count=3, kept=None, changes=None, **options):
        with comparing(model, kept=kept, **(changes or {})) as (_, comparer):
            comparison = compared(comparer, request_for(count, **options))
        return comparison_from_json(comparison_to_json(replace(comparison, id="c1")))

    return through_a_file


@pytest.fixture(scope="module")
def recorded(compare):
    return compare(ComparingModel())


@pytest.fixture
def replayed(shelf, encoder):
    return lambda comparison: replay_comparison(comparison, encoder, lambda versions: shelf)


def different(found):
    assert found.impossible == ""
    return {step.step: step.differences for step in found.steps if step.outcome == "different"}


def test_a_comparison_is_equal_when_it_is_done_again(recorded, replayed):
    found = replayed(recorded)
    assert different(found) == {}
    assert [step.step for step in found.steps] == STEPS
    assert found.is_equal
    assert found.notes == ()


def failing(share):
    """Return a model of which some samples and votes fail for good, and some replies do not fit."""
    plain = ComparingModel()

    def answer(request):
        kind, number = kind_of(request), len(plain.counts) and sum(plain.counts.values())
        behaviour = plain(request)
        if kind == "elements" or number % share:
            return behaviour
        return reply("I would rather not.") if kind == "vote" else refusal(400, "no such thing")

    return answer


def broken_elements(request):
    return reply("{") if kind_of(request) == "elements" else ComparingModel()(request)


def drops_in_the_middle(request):
    behaviour = ComparingModel()(request)
    return cut_off("Reference 1 studies retrieval [1]. Refer") if kind_of(request) == "compare" else behaviour


@pytest.mark.parametrize(
    "model",
    [
        failing(3),
        broken_elements,
        drops_in_the_middle,
        ComparingModel(choices=lambda drafts: vote_reply_text(99)),
        ComparingModel(summaries=lambda labels, number: f"Only {number} is told [{labels[-1]}], not [77]"),
        ComparingModel(summaries=lambda labels, number: f"Half a pair \\ud83d and \x1b[31m {number} [1]."),
    ],
    ids=["failing", "broken elements", "dropped", "no valid vote", "lost references", "odd characters"],
)
def test_what_went_wrong_goes_wrong_again_in_the_same_way(compare, replayed, model):
    assert different(replayed(compare(model))) == {}


@pytest.mark.parametrize("without", ["elements", "increments", "reflection"])
def test_ablations_are_done_again(compare, replayed, without):
    assert different(replayed(compare(ComparingModel(), without=(without,)))) == {}


@pytest.mark.parametrize("order", ["year", "similarity"])
def test_orders_are_found_again(compare, replayed, order):
    assert different(replayed(compare(ComparingModel(), order=order))) == {}


def test_papers_named_twice_are_found_again(comparing, replayed):
    request = request_for(2)
    request = replace(request, papers=(*request.papers, request.papers[0]))
    with comparing(ComparingModel()) as (_, comparer):
        comparison = compared(comparer, request)
    assert "named more than once" in comparison.remarks[0]
    assert different(replayed(replace(comparison, id="c1"))) == {}


def test_texts_that_a_short_context_has_cut_are_read_as_they_were(compare, replayed):
    """The context of a model is not in the record, but the text left out of its prompt is."""
    long = " ".join(f"We want sentence {number} to be checked." for number in range(300))
    changes = {"context": 4000, "parameters": Parameters(max_tokens=300)}
    comparison = compare(ComparingModel(), 2, changes=changes, about=long)
    assert long not in comparison.calls[0].call.messages[1].content
    assert different(replayed(comparison)) == {}


def test_elements_that_an_earlier_comparison_paid_for_are_replayed_too(tmp_path, compare, replayed):
    kept = ElementStore.open(tmp_path)
    compare(ComparingModel(), 2, kept)
    second = compare(ComparingModel(), 3, kept)
    assert sorted(call.work for call in second.calls if call.reused) == ["elements 1", "elements 2"]
    assert different(replayed(second)) == {}


def test_without_a_model_everything_is_done_anew(shelf, encoder, replayed):
    comparison = compared(Comparer(shelf, encoder, ExtractiveComparer(encoder)), request_for(4))
    comparison = comparison_from_json(comparison_to_json(replace(comparison, id="c1")))
    assert comparison.calls == ()
    assert different(replayed(comparison)) == {}
    forged = replace(comparison, answer=replace(comparison.answer, text="All agree [1]."))
    assert "summary" in different(replayed(forged))


RECORDED = Path(__file__).with_name("recorded")


@pytest.fixture(scope="module")
def replayed_in_torch(tmp_path_factory):
    """Return a function that replays comparisons which were recorded with the encoder in torch."""
    encoder = SentenceEncoder()
    corpus = open_compared_corpus(tmp_path_factory.mktemp("torch") / "corpus", encoder)
    return lambda comparison: replay_comparison(comparison, encoder, lambda versions: corpus)


def from_file(name, found):
    """Return a comparison exported by the version before, on the corpus as it is here."""
    recorded = comparison_from_json((RECORDED / f"comparison-{name}.json").read_text(encoding="utf-8"))
    return replace(recorded, provenance=replace(recorded.provenance, corpus=found.provenance.corpus))


def test_a_comparison_of_the_version_before_is_equal_when_it_is_done_again(recorded, replayed_in_torch):
    assert different(replayed_in_torch(from_file("model", recorded))) == {}


def test_what_voted_without_a_model_still_reads_shows_and_says_why_it_cannot_be_done_again(
    recorded, replayed_in_torch
):
    before = from_file("extractive", recorded)
    assert [vote.criterion for vote in before.rounds[0].votes] == EXTRACTIVE_CRITERIA
    assert "Vote 1 (coverage): candidate 1" in comparison_to_markdown(before)
    assert "judged by 4 criteria" in comparison_to_markdown(before)
    found = replayed_in_torch(before)
    assert "by an earlier version, which still voted on its own drafts" in found.impossible


def with_first(records, **changes):
    first, *rest = records
    return (replace(first, **changes), *rest)


def with_round(comparison, **changes):
    return replace(comparison, rounds=with_first(comparison.rounds, **changes))


def with_call(comparison, work, **changes):
    return replace(
        comparison,
        calls=tuple(
            replace(call, call=replace(call.call, **changes)) if call.work == work else call
            for call in comparison.calls
        ),
    )


def without_call(comparison, work):
    return replace(comparison, calls=tuple(call for call in comparison.calls if call.work != work))


def with_paper(comparison, **changes):
    first, *rest = comparison.evidence.papers
    first = replace(first, paper=replace(first.paper, **changes))
    return replace(comparison, evidence=replace(comparison.evidence, papers=(first, *rest)))


def with_element(comparison, **changes):
    elements = comparison.elements[1]
    forged = replace(elements, elements=with_first(elements.elements, **changes))
    return replace(comparison, elements=(comparison.elements[0], forged, *comparison.elements[2:]))


FORGERIES = {
    "description": (
        lambda comparison: replace(comparison, about="Something else"),
        "calls",
        "elements 0: what would be",
    ),
    "order of papers": (
        lambda comparison: replace(comparison, paper_ids=comparison.paper_ids[::-1]),
        "calls",
        "elements 1: what would be sent now is not in the record",
    ),
    "title": (
        lambda comparison: with_paper(comparison, title="Forged"),
        "papers",
        "[1], paper, title: was 'Forged'",
    ),
    "bibtex": (
        lambda comparison: with_paper(comparison, bibtex="@misc{forged}"),
        "papers",
        "[1], paper, bibtex",
    ),
    "remark": (lambda comparison: replace(comparison, remarks=("All is well.",)), "papers", "remark, 1"),
    "element": (
        lambda comparison: with_element(comparison, text="It wins."),
        "elements",
        "[1], elements, 1, text: was 'It wins.'",
    ),
    "element's score": (
        lambda comparison: with_element(comparison, support=1.0),
        "elements",
        "support: was 1.0000",
    ),
    "element's evidence": (
        lambda comparison: with_element(comparison, evidence=()),
        "elements",
        "evidence, 1",
    ),
    "kept": (
        lambda comparison: with_round(comparison, kept=comparison.rounds[0].kept[::-1]),
        "rounds",
        "round, 1, kept, 1",
    ),
    "votes": (
        lambda comparison: with_round(
            comparison, votes=with_first(comparison.rounds[0].votes, choice=None, problem="Lost.")
        ),
        "rounds",
        "round, 1, votes, 1, choice: was nothing",
    ),
    "analysis": (
        lambda comparison: with_round(
            comparison, votes=with_first(comparison.rounds[0].votes, analysis="Bribed.")
        ),
        "rounds",
        "round, 1, votes, 1, analysis: was 'Bribed.'",
    ),
    "candidate": (
        lambda comparison: with_round(
            comparison, candidates=with_first(comparison.rounds[0].candidates, text="Forged [1].")
        ),
        "rounds",
        "round, 1, candidates, 1, text: was 'Forged [1].'",
    ),
    "failed": (
        lambda comparison: with_round(comparison, failed=("The server was away.",)),
        "rounds",
        "round, 1, failed, 1: was 'The server was away.', now nothing",
    ),
    "lost votes": (
        lambda comparison: with_round(comparison, votes=comparison.rounds[0].votes[:-1]),
        "rounds",
        "round, 1, votes, 5: was nothing",
    ),
    "summary": (
        lambda comparison: replace(comparison, answer=replace(comparison.answer, text="All agree [1].")),
        "summary",
        "text: was 'All agree [1].'",
    ),
    "precision": (
        lambda comparison: replace(comparison, answer=replace(comparison.answer, citation_precision=0.123)),
        "check",
        "citation_precision: was 0.1230",
    ),
    "sentence": (
        lambda comparison: replace(
            comparison,
            answer=replace(
                comparison.answer, sentences=with_first(comparison.answer.sentences, claim="Forged")
            ),
        ),
        "check",
        "sentences, 1, claim: was 'Forged'",
    ),
    "model": (
        lambda comparison: with_call(comparison, "elements 1", model="other"),
        "calls",
        "was asked of 'other'",
    ),
    "call too many": (
        lambda comparison: replace(
            comparison, calls=(*comparison.calls, replace(comparison.calls[-1], work="round 9 vote 1"))
        ),
        "calls",
        "round 9 vote 1: is recorded, but nothing asked for it",
    ),
    "call too few": (
        lambda comparison: without_call(comparison, "round 3 vote 2"),
        "calls",
        "round 3 vote 2: what would be sent now is not in the record, so it would have to be asked anew",
    ),
    "no elements": (
        lambda comparison: without_call(comparison, "elements 2"),
        "calls",
        "elements 2: what would be sent",
    ),
    "prompt": (
        lambda comparison: with_call(
            comparison, "round 1 sample 2", messages=comparison.calls[0].call.messages
        ),
        "calls",
        "round 1 sample 2: what would be sent now is not in the record",
    ),
    "reply": (
        lambda comparison: with_call(comparison, "round 3 sample 1", reply="Forged [1]."),
        "calls",
        "round 3 vote 1: what would be sent now is not in the record",
    ),
    "no calls": (lambda comparison: replace(comparison, calls=()), "calls", "elements 0: what would be sent"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_comparison_is_named(recorded, replayed, name):
    forge, step, words = FORGERIES[name]
    found = replayed(forge(recorded))
    assert not found.is_equal
    assert any(words in line for line in different(found)[step]), different(found)


def test_a_comparison_that_cannot_be_replayed_is_reported(recorded, replayed, encoder):
    other = replace(recorded, provenance=replace(recorded.provenance, encoder="another"))
    assert "It was recorded with the encoder 'another'" in replayed(other).impossible
    gone = replayed(replace(recorded, paper_ids=(*recorded.paper_ids, "shelf/gone")))
    assert gone.impossible == "The corpus has no paper 'shelf/gone'."
    assert not gone.is_equal


def test_another_scorer_is_a_note(recorded, replayed):
    found = replayed(replace(recorded, provenance=replace(recorded.provenance, scorer="another")))
    assert found.is_equal
    assert "support was scored by another" in found.notes[0]


def test_the_command_takes_a_comparison_and_says_what_is_equal(recorded, run, tmp_path):
    file = tmp_path / "comparison.json"
    file.write_text(comparison_to_json(recorded), encoding="utf-8")
    ran = run("replay", str(file))
    assert ran.exit_code == 0, ran.output
    assert f"\n{ABOUT}\n" in ran.stdout
    assert [line.split()[0] for line in ran.stdout.splitlines() if line.endswith(" equal")] == STEPS
    assert ran.stdout.endswith("\nThe comparison is equal.\n")
    file.write_text(comparison_to_json(FORGERIES["analysis"][0](recorded)), encoding="utf-8")
    ran = run("replay", str(file))
    assert ran.exit_code == 1
    assert "The comparison is not equal." in ran.stdout
    ran = run("replay", str(file), "--json")
    assert ran.exit_code == 1
    document = json.loads(ran.stdout)
    assert (document["about"], document["equal"]) == (ABOUT, False)
    assert [step["step"] for step in document["steps"] if step["outcome"] == "different"] == ["rounds"]


@pytest.fixture
def written(recorded, tmp_path):
    """Return a function that writes the comparison's file with a change to it."""

    def write(change):
        file = tmp_path / "comparison.json"
        file.write_text(change(comparison_to_json(recorded)), encoding="utf-8")
        return file

    return write


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        (lambda text: text, ["--generate"], "--generate is for conversations"),
        (lambda text: text[:-10], [], "The file is not JSON"),
        (lambda text: text.replace('"id": "c1"', '"id": "../c1"'), [], "none that Paper Trail gives"),
        (lambda text: text.replace('"paper-trail/comparison"', '"x"'), [], "not a Paper Trail transcript"),
        (
            lambda text: text.replace('"shelf/p1"', '"shelf/gone"'),
            [],
            "cannot be replayed: The corpus has no",
        ),
    ],
)
def test_a_trail_that_the_command_cannot_replay_is_reported(written, run, change, arguments, words):
    file = written(change)
    ran = run("replay", str(file), *arguments)
    assert ran.exit_code == 2
    assert words in " ".join(ran.output.split())


def test_a_stored_comparison_is_replayed_by_its_id_once_it_is_finished(recorded, run):
    store = ComparisonStore.open(read_settings())
    finished = store.put("terminal", recorded)
    begun = store.start("terminal", request_for(2), "own", None, ())
    store.close()
    assert run("replay", finished.id).exit_code == 0
    ran = run("replay", begun.id)
    assert ran.exit_code == 2
    assert f"is not finished. Go on with it: paper-trail compare --resume {begun.id}" in " ".join(
        ran.output.split()
    )
    assert "no stored conversation or comparison of that id" in " ".join(
        run("replay", "no-such").output.split()
    )
