"""Comparisons as files: equal both ways, and nothing else is read."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from assistant.comparing.elements import kept_from_json, kept_to_json
from assistant.comparing.records import (
    ELEMENT_NAMES,
    Candidate,
    Comparison,
    ComparisonOptions,
    ElementEvidence,
    KeyElement,
    KeyElements,
    QuestionColumn,
    QuotedCell,
    QuotedSentence,
    Round,
    Vote,
    WorkCall,
    parse_task_name,
    task_name,
)
from assistant.records import (
    Answer,
    AnswerSentence,
    AssistantError,
    Call,
    Citation,
    Conversation,
    Evidence,
    Message,
    Parameters,
    Provenance,
    StepTime,
    TableVersion,
)
from assistant.trail.comparison_file import (
    comparison_from_json,
    comparison_schema,
    comparison_to_json,
    trail_from_json,
)
from assistant.trail.transcript import from_json, to_json
from tests.assistant.checking.test_citations import make_paper

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.floats(0, 1)
counts = st.integers(0, 10**6)
ids = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)


def make_call(work="round 1 sample 1", reply="On fusion [1].", prompt="Continue."):
    message = Message("user", prompt)
    call = Call("compare", "model", (message,), Parameters(), reply, "2026-11-21T12:00:00.000+00:00", 0.5)
    return WorkCall(work, call)


def make_round(number, kept=1, label=None):
    candidates = tuple(Candidate(label, kept if number > 1 else None, "On fusion [1].") for label in (1, 2))
    votes = (Vote(1, kept, "It is the clearer one."), Vote(2, None, problem="it is not JSON"))
    return Round(number, (label or number,), candidates, votes, (kept,))


def make_comparison(identifier="c1", calls=(), rounds=2):
    papers = tuple(make_paper(label, "A text.") for label in range(1, rounds + 1))
    elements = tuple(
        KeyElements(
            label,
            "abstract",
            (KeyElement("results", "It wins.", 0.9, (ElementEvidence("p#0", 0, "W", 0.9),)),),
        )
        for label in range(rounds + 1)
    )
    return Comparison(
        id=identifier,
        about="How lists are fused",
        options=ComparisonOptions(),
        paper_ids=tuple(paper.paper.id for paper in papers),
        asked="2026-11-21T12:00:00.000+00:00",
        evidence=Evidence(papers),
        elements=elements,
        rounds=tuple(make_round(number) for number in range(1, rounds + 1)),
        answer=Answer("On fusion [1]."),
        calls=tuple(calls),
        seconds=(StepTime("elements", 1.0),),
        provenance=Provenance("Paper Trail", "model", "encoder", "hash", (TableVersion("papers", 3),)),
        parameters=Parameters(),
        remarks=("One of the papers is known here by the abstract alone.",),
    )


@st.composite
def made_comparisons(draw):
    """Return a comparison with everything in it that one can hold, each value drawn."""
    text, number, count = (lambda: draw(texts)), (lambda: draw(numbers)), (lambda: draw(counts))
    maybe, tokens = draw(st.none() | numbers), draw(st.none() | counts)
    parameters = draw(st.none() | st.just(Parameters(number(), number(), count())))
    call = Call("vote", text(), (Message("user", text()),), parameters, text(), text(), number(), text())
    call = replace(call, prompt_tokens=tokens, price=maybe, left_out=(text(),), problem=text())
    evidence = (ElementEvidence(text(), count(), text(), number()),)
    elements = tuple(KeyElement(name, text(), maybe, evidence) for name in ELEMENT_NAMES)
    kinds = draw(st.sampled_from(["full text", "abstract", "title", "description"]))
    candidates = (
        Candidate(1, None, text(), (count(),), ("interrupted",), maybe, maybe, count()),
        Candidate(2, None, text()),
    )
    votes = (Vote(1, draw(st.sampled_from([1, 2, None])), text(), text(), text()),)
    rounds = (
        Round(1, (count(),), candidates, votes, draw(st.sampled_from([(1,), (2, 1)])), (text(),)),
        Round(2, (count(),), (replace(candidates[0], parent=1),), (), (1,)),
    )
    citation = Citation(count(), text(), text(), draw(st.none() | counts), text(), number(), maybe)
    sentence = AnswerSentence(count(), count(), text(), (count(),), (citation,), (text(),))
    return Comparison(
        id=draw(ids),
        about=text(),
        options=ComparisonOptions(count(), count(), count(), "year", ("elements",)),
        paper_ids=(text(), text()),
        asked=text(),
        evidence=Evidence((make_paper(1, text(), text()), make_paper(2, text()))),
        elements=(KeyElements(count(), kinds, elements, text(), text()),),
        rounds=draw(st.sampled_from([(), rounds[:1], rounds])),
        answer=Answer(text(), (sentence,), None, maybe, maybe),
        calls=(WorkCall(text(), call, draw(st.booleans())),),
        seconds=(StepTime("vote", number()),),
        provenance=Provenance(text(), text(), text(), text(), (TableVersion(text(), count()),)),
        parameters=parameters,
        remarks=(text(),),
        columns=(QuestionColumn(text(), (QuotedCell(count(), (QuotedSentence(text(), count(), text()),)),)),),
    )


@settings(max_examples=50)
@given(made_comparisons())
def test_a_comparison_reads_back_equal(comparison):
    text = comparison_to_json(comparison)
    assert comparison_from_json(text) == trail_from_json(text) == comparison


@settings(max_examples=20)
@given(made_comparisons())
def test_kept_elements_read_back_equal_and_damaged_ones_are_none(comparison):
    text = kept_to_json(comparison.elements[0], comparison.calls)
    assert kept_from_json(text) == (comparison.elements[0], comparison.calls)
    assert kept_from_json(text[:-1]) is None
    assert kept_from_json(comparison_to_json(comparison)) is None


def test_half_a_surrogate_pair_in_a_reply_does_not_lose_the_comparison():
    comparison = make_comparison(calls=[make_call(reply="half \ud83d a pair, a NUL \x00 and ESC \x1b[31m")])
    text = comparison_to_json(comparison)
    assert comparison_from_json(text.encode().decode()) == comparison


def test_which_kind_a_file_is_is_told_by_its_header():
    conversation = Conversation("c1", "Fusion")
    assert trail_from_json(to_json(conversation)) == conversation
    assert trail_from_json(comparison_to_json(make_comparison())) == make_comparison()
    with pytest.raises(AssistantError, match="The file is not a Paper Trail transcript"):
        from_json(comparison_to_json(make_comparison()))
    with pytest.raises(AssistantError, match="The file is not a Paper Trail comparison"):
        comparison_from_json(to_json(conversation))


def test_fault_a_trail_of_before_with_a_long_abstract_was_not_read():
    """Older versions cut no abstract, so their files hold them as long as they were."""
    comparison = make_comparison()
    first, *others = comparison.evidence.papers
    first = replace(first, paper=replace(first.paper, abstract="word " * 8_000))
    long = replace(comparison, evidence=Evidence((first, *others)))
    assert comparison_from_json(comparison_to_json(long)) == long
    longer = comparison_to_json(long).replace("word " * 8_000, "word " * 40_001)
    with pytest.raises(AssistantError, match="its abstract has 200,005 characters"):
        comparison_from_json(longer)


@pytest.mark.parametrize(
    ("task", "name"),
    [
        (("elements", 3, 0), "elements 3"),
        (("sample", 2, 6), "round 6 sample 2"),
        (("vote", 12, 10), "round 10 vote 12"),
        (None, "round 6"),
        (None, "round 6 elements 1"),
        (None, "elements 3 "),
    ],
)
def test_names_of_work_are_built_and_read(task, name):
    assert parse_task_name(name) == task
    assert WorkCall(name, make_call().call).round == (task[2] if task else 0)
    if task:
        assert task_name(*task) == name


def changed(*path_and_value):
    *path, last, value = path_and_value
    document = whole = json.loads(comparison_to_json(make_comparison(calls=[make_call()])))
    for step in path:
        document = document[step]
    document[last] = value
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("path_and_value", "words"),
    [
        (("format", "paper-trail/else"), "not a Paper Trail comparison"),
        (("version", 2), "format version 2"),
        (("version", None), "format version None"),
        (("comparison", None), "damaged"),
        (("comparison", []), "damaged"),
        (("comparison", "id", "../../../etc/passwd"), "its id is none that Paper Trail gives"),
        (("comparison", "id", "x" * 65), "its id is none"),
        (("comparison", "mood", "good"), "not written by Paper Trail"),
        (("comparison", "about", 7), "about"),
        (("comparison", "options", "samples", "2"), "damaged"),
        (("comparison", "options", "order", "chance"), "options.order"),
        (("comparison", "options", "without", ["everything"]), "options.without"),
        (("comparison", "elements", 0, "elements", 0, "name", "mood"), "elements.0.elements.0.name"),
        (("comparison", "elements", 0, "elements", 0, "support", float("nan")), "damaged"),
        (("comparison", "rounds", 0, "votes", 0, "choice", True), "damaged"),
        (("comparison", "rounds", 0, "votes", 0, "choice", 9), "round 1 names a candidate that it does not"),
        (("comparison", "rounds", 1, "kept", [9]), "round 2 names a candidate that it does not have"),
        (("comparison", "rounds", 1, "kept", [1, 1]), "round 2 names a candidate twice"),
        (("comparison", "rounds", 1, "candidates", 0, "number", 2), "round 2 names a candidate twice"),
        (("comparison", "rounds", 1, "candidates", 0, "parent", 2), "the round before did not keep"),
        (("comparison", "rounds", 0, "candidates", 0, "parent", 1), "the round before did not keep"),
        (("comparison", "evidence", "papers", 0, "label", 3), "not labelled from 1 on"),
        (("comparison", "calls", 0, "call", "step", "guess"), "calls.0.call.step"),
        (("comparison", "calls", 0, "work", None), "calls.0.work"),
    ],
)
def test_a_damaged_comparison_is_refused_with_what_is_wrong(path_and_value, words):
    with pytest.raises(AssistantError) as caught:
        comparison_from_json(changed(*path_and_value))
    assert words in str(caught.value)


NO_JSON = ["", "no json", "{", "[" * 100_000, '{"a":' * 50_000, "9" * 5000]
NO_TRAIL = ["[]", "null", "7", '"text"', "{}", '{"format": []}', '{"format": [], "version": 1}']


@pytest.mark.parametrize("text", NO_JSON + NO_TRAIL)
@pytest.mark.parametrize(
    ("read", "kind"),
    [(from_json, "transcript"), (comparison_from_json, "comparison"), (trail_from_json, "")],
)
def test_what_is_no_trail_is_refused(read, kind, text):
    with pytest.raises(AssistantError, match=f"not JSON|not a Paper Trail {kind}"):
        read(text)


def test_a_deep_value_where_text_belongs_is_refused():
    deep = json.loads("[" * 900 + "]" * 900)
    with pytest.raises(AssistantError, match="about"):
        comparison_from_json(changed("comparison", "about", deep))


@given(st.integers(0, 5000))
def test_a_cut_comparison_is_refused(length):
    text = comparison_to_json(make_comparison(calls=[make_call()]))
    with pytest.raises(AssistantError):
        comparison_from_json(text[: min(length, len(text) - 1)])


def test_a_comparison_fits_the_published_schema(root):
    published = json.loads((root / "docs" / "comparison.schema.json").read_text(encoding="utf-8"))
    assert published == comparison_schema(), "docs/comparison.schema.json is not of this version"
    Draft202012Validator.check_schema(published)
    validator = Draft202012Validator(published)
    document = json.loads(comparison_to_json(make_comparison(calls=[make_call()])))
    assert list(validator.iter_errors(document)) == []
    document["comparison"]["rounds"][0]["mood"] = "good"
    assert list(validator.iter_errors(document)) != []
