"""Files that anybody may have written: their numbers, texts and lists are such as Paper Trail writes."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assistant.bounds import LONGEST_ANSWER
from assistant.records import AssistantError
from assistant.storage.comparisons import ComparisonStore
from assistant.storage.conversations import ConversationStore
from assistant.trail.comparison_file import comparison_from_json
from assistant.trail.imports import MOST_VALUES, ImportKind, check_import, read_checked
from assistant.trail.transcript import from_json
from tests.hostile_imports import LIBRARY, Place, places, put, value_at, whole

KINDS: tuple[ImportKind, ...] = ("conversation", "comparison")
BOX = {"page": 1, "x": 1.0, "y": 1.0, "width": 1.0, "height": 1.0}


def read(kind: ImportKind, document: object) -> Any:
    text = json.dumps(document)
    return from_json(text) if kind == "conversation" else comparison_from_json(text)


def each_field(kind: ImportKind, *types: type) -> Iterator[tuple[str, Any, Place]]:
    """Yield a file for each field of its records that holds such a value, and the place of the first."""
    names: set[str] = set()
    for container, key in places(whole(kind)[kind], *types):
        inside = ",".join(sorted(container)) if isinstance(container, dict) else "list"
        if (name := f"{key if isinstance(key, str) else ''} of {inside}") in names:
            continue
        names.add(name)
        document = whole(kind)
        again = places(document[kind], *types)
        yield (
            name,
            document,
            next(difference for difference in again if (difference[0], difference[1]) == (container, key)),
        )


def taken(kind: ImportKind, change: Callable[[Place], object], *types: type) -> list[str]:
    """Return the fields that took another value in the place of their own."""
    names = []
    for name, document, place in each_field(kind, *types):
        put(place, change(place))
        try:
            read(kind, document)
        except AssistantError as error:
            assert str(error).startswith(f"The {'transcript' if kind == 'conversation' else kind} is damaged")
        else:
            names.append(name)
    return names


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [1e300, float("inf"), float("nan"), -(10**30)])
def test_fault_numbers_of_imported_trails_were_unbounded(kind: ImportKind, number: float) -> None:
    assert taken(kind, lambda _: number, float) == []
    assert taken(kind, lambda _: 10**30 if number > 0 else -(10**30), int) == []


@pytest.mark.parametrize("kind", KINDS)
def test_fault_a_text_of_an_import_was_longer_than_any_that_is_written(kind: ImportKind) -> None:
    assert taken(kind, lambda _: "a" + " " * 4_000_000, str) == []


@pytest.mark.parametrize("kind", KINDS)
def test_fault_lists_of_imported_trails_were_endless(kind: ImportKind) -> None:
    def longer(place: Place) -> object:
        entries = value_at(place)
        return (entries[:1] or [BOX]) * 20_001

    for name, document, place in each_field(kind, list):
        small = len(json.dumps(value_at(place)[:1])) < 100
        if small:
            put(place, longer(place))
            with pytest.raises(AssistantError):
                read(kind, document)
                pytest.fail(f"{name} was taken")


def test_fault_an_answer_of_one_letter_spaces_and_a_letter_came_in(tmp_path: Any) -> None:
    document = whole("conversation")
    document["conversation"]["turns"][0]["answer"]["text"] = f"a{' ' * LONGEST_ANSWER}b"
    with pytest.raises(AssistantError, match="its text has 60,002 characters, and at most 60,000 are read"):
        read("conversation", document)


def moved(kind: ImportKind, *papers: str) -> Any:
    """Return a file of which some papers, or all, are of a kept library."""
    text = json.dumps(whole(kind))
    for paper in papers or {labelled["paper"]["id"] for labelled in _labelled(whole(kind))}:
        for end in ('"', "#"):
            text = text.replace(f'"{paper}{end}', f'"{LIBRARY}/{paper.rpartition("/")[2]}{end}')
    document = json.loads(text)
    for labelled in _labelled(document):
        if labelled["paper"]["id"].startswith(LIBRARY):
            for record in (labelled["paper"], *labelled["passages"]):
                record["collection_id"] = LIBRARY
    for turn in document[kind].get("turns", ()):
        # The other hits belong to other papers.
        turn["hits"] = []
        turn["scope"]["collections"] = []
        if turn["answer"]["refusal"]:
            turn["answer"]["refusal"]["nearest"] = []
    return document


def _labelled(document: Any) -> Iterator[Any]:
    for container, key in places(document, list):
        if key == "papers" and isinstance(container, dict):
            yield from (entry for entry in container["papers"] if isinstance(entry, dict))


def check(kind: ImportKind, document: Any) -> None:
    check_import(kind, json.dumps(document).encode())


@pytest.mark.parametrize("kind", KINDS)
def test_fault_an_import_mixed_papers_of_different_libraries(kind: ImportKind) -> None:
    paper = next(_labelled(whole(kind)))["paper"]["id"]
    with pytest.raises(AssistantError, match="mixes papers of different libraries"):
        check(kind, moved(kind, paper))
    check(kind, moved(kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("field", ["collection_id", "passage id", "passage's paper", "passage's collection"])
def test_fault_ids_of_an_import_contradicted_each_other(kind: ImportKind, field: str) -> None:
    document = whole(kind)
    labelled = next(_labelled(document))
    passage = labelled["passages"][0]
    match field:
        case "collection_id":
            labelled["paper"]["collection_id"] = LIBRARY
        case "passage id":
            passage["id"] = f"{LIBRARY}/x#{passage['number']}"
        case "passage's paper":
            passage["paper_id"] = "another/paper"
        case _:
            passage["collection_id"] = LIBRARY
    with pytest.raises(AssistantError, match="than it says"):
        check(kind, document)


def test_fault_an_answer_cited_for_a_paper_a_passage_of_another() -> None:
    document = whole("conversation")
    cited = next(
        citation
        for turn in document["conversation"]["turns"]
        for sentence in turn["answer"]["sentences"]
        for citation in sentence["citations"]
    )
    cited["passage_id"] = f"{LIBRARY}/x#0"
    with pytest.raises(AssistantError, match="a passage that its paper does not have"):
        check("conversation", document)


@pytest.mark.parametrize("kind", KINDS)
def test_fault_an_import_was_stored_over_another_library_than_its_papers(
    kind: ImportKind, tmp_path: Any
) -> None:
    file = read(kind, moved(kind))
    opened = ConversationStore if kind == "conversation" else ComparisonStore
    store = opened(tmp_path / "kept.sqlite")
    for library in ("", "another"):
        with pytest.raises(AssistantError, match="papers of another library"):
            store.put("me", file, library)
    assert store.list("me") == ()
    store.close()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_checked_reads_back_as_it_was(kind: ImportKind) -> None:
    document = whole(kind)
    assert read_checked(kind, check_import(kind, json.dumps(document).encode())) == read(kind, document)
    half = whole(kind)
    half[kind]["turns" if kind == "conversation" else "remarks"] = []
    half[kind]["title" if kind == "conversation" else "about"] = "half \ud800 a pair"
    assert read_checked(kind, check_import(kind, json.dumps(half).encode())) == read(kind, half)


@pytest.mark.parametrize("piece", [b"[],", b"{},", b"0,"])
def test_a_file_of_nothing_but_marks_is_refused_before_anything_is_made_of_it(piece: bytes) -> None:
    with pytest.raises(AssistantError, match="more than 1,000,000 values"):
        check_import("conversation", b"[" + piece * MOST_VALUES + b"0]")
