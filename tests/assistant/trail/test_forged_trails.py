"""Trails in which what a reader sees was changed after they were recorded: no replay calls them equal."""

from dataclasses import replace

import pytest

from assistant.records import Conversation
from assistant.trail.replay import Replayer
from corpus.records import Author, Section


@pytest.fixture(scope="session")
def replayed(demo_corpus, encoder):
    def replay(turn):
        (found,) = Replayer(encoder, lambda versions: demo_corpus).replay(Conversation("c", "t", (turn,)))
        return found

    return replay


def with_labelled(turn, forge):
    first, *rest = turn.evidence.papers
    return replace(turn, evidence=replace(turn.evidence, papers=(forge(first), *rest)))


def with_paper(turn, **changes):
    return with_labelled(turn, lambda labelled: replace(labelled, paper=replace(labelled.paper, **changes)))


def with_passage(turn, **changes):
    def forged(labelled):
        first, *rest = labelled.passages
        return replace(labelled, passages=(replace(first, **changes), *rest))

    return with_labelled(turn, forged)


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Forged"},
        {"authors": (Author("Ada", "Forged"),)},
        {"year": 1899},
        {"venue": "Forged"},
        {"doi": "10.1/forged"},
        {"url": "https://forged.example"},
        {"pdf_url": "https://forged.example"},
        {"bibtex": "@misc{forged}"},
        {"abstract": "Forged"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_forged_paper_is_named(turn, replayed, changes):
    found = replayed(with_paper(turn, **changes))
    (name,) = changes
    (evidence,) = [step for step in found.steps if step.outcome == "different"]
    assert evidence.step == "evidence"
    assert evidence.differences[0].startswith(f"[1], paper, {name}")


def test_of_another_paper_only_its_id_is_named(turn, replayed):
    found = replayed(with_paper(turn, id="c/forged", title="Forged", year=1899))
    assert [line.split(":")[0] for line in found.steps[2].differences] == ["[1], paper"]
    assert "was 'c/forged', now 'field-notes" in found.steps[2].differences[0]


@pytest.mark.parametrize(
    "changes",
    [{"page": 99}, {"section": (Section("9", "Forged"),)}, {"kind": "caption"}, {"number": 77}],
    ids=lambda changes: next(iter(changes)),
)
def test_a_forged_place_of_a_passage_is_named(turn, replayed, changes):
    (name,) = changes
    found = replayed(with_passage(turn, **changes))
    assert f", {name}" in found.steps[2].differences[0]
    assert not found.is_equal


def test_forged_offsets_and_boxes_of_a_sentence_are_named(turn, replayed):
    first, *rest = turn.evidence.papers[0].passages[0].sentences
    for changes in ({"end": first.end - 1}, {"boxes": ()} if first.boxes else {"start": 1}):
        found = replayed(with_passage(turn, sentences=(replace(first, **changes), *rest)))
        assert f"sentences, 1, {next(iter(changes))}" in found.steps[2].differences[0]


def test_what_older_versions_did_not_record_of_a_paper_may_be_missing(turn, replayed):
    assert replayed(with_paper(turn, aspects=(), topics=())).is_equal


@pytest.mark.parametrize(
    ("forge", "step", "words"),
    [
        (
            lambda turn: replace(turn, provenance=replace(turn.provenance, generator="some/model")),
            "write",
            "generator: was 'some/model', but the rewrite call names 'extractive'",
        ),
        (
            lambda turn: replace(
                turn,
                provenance=replace(turn.provenance, generator="some/model"),
                calls=tuple(replace(call, model="some/model") for call in turn.calls),
            ),
            "write",
            "it was sent nothing",
        ),
        (
            lambda turn: replace(turn, rewrite=replace(turn.rewrite, edited=True)),
            "rewrite",
            "said to be the reader's own",
        ),
        (
            lambda turn: replace(
                turn, rewrite=replace(turn.rewrite, search_query="forged"), calls=turn.calls[1:]
            ),
            "rewrite",
            "nothing made it",
        ),
        (lambda turn: replace(turn, drafts=0), "write", "drafts: 0 are said to be written"),
    ],
    ids=["generator", "generator-of-every-call", "edited", "not-edited", "drafts"],
)
def test_a_record_that_contradicts_itself_is_not_equal(turn, replayed, forge, step, words):
    found = replayed(forge(turn))
    assert not found.is_equal
    (said,) = ["\n".join(replayed.differences) for replayed in found.steps if replayed.step == step]
    assert words in said


def test_a_kind_that_the_question_does_not_have_is_noted(turn, replayed):
    assert not replayed(turn).notes
    other = replayed(replace(turn, rewrite=replace(turn.rewrite, kind="summary")))
    assert "answered as a summary" in other.notes[0]
