"""Papers in two languages, some with labels of their library: what they can be restricted to."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from corpus.encoders.base import Encoder
from tests.explorer.asking import links, texts
from tests.explorer.collection.test_collection import pills
from tests.small_corpus import make_paper, write_corpus

PAPERS = {
    "tokens": ("Dropping Tokens for Speed", "en", ("to read", "speed")),
    "heads": ("Pruning Heads of Encoders", "en", ()),
    "woerter": ("Seltene Wörter im Wandel", "de", ("to read",)),
}


@pytest.fixture(scope="module")
def notes_home(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    home = tmp_path_factory.mktemp("home")
    papers = {
        replace(make_paper("notes", key, title=title, position=at), language=language, labels=labels): [
            f"{title}."
        ]
        for at, (key, (title, language, labels)) in enumerate(PAPERS.items())
    }
    write_corpus(home / "corpus", encoder, papers)
    return home


@pytest.fixture
def home(notes_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(notes_home))
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"sqlite:///{tmp_path / 'conversations.sqlite'}")
    return notes_home


def listed(test: AppTest) -> set[str]:
    return {key for key, (title, *_) in PAPERS.items() if any(link.startswith(title) for link in links(test))}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {"tokens", "heads", "woerter"}),
        ({"language": "de"}, {"woerter"}),
        ({"label": "to read"}, {"tokens", "woerter"}),
        ({"label": "to read", "language": "en"}, {"tokens"}),
    ],
)
def test_an_address_restricts_papers_by_language_and_label(
    screen: Callable[..., AppTest], query: dict[str, str], expected: set[str]
) -> None:
    test = screen("collection", collection="notes", **query)
    assert not test.exception
    assert listed(test) == expected


def test_languages_are_offered_by_name_chosen_and_named(screen: Callable[..., AppTest]) -> None:
    test = screen("collection", collection="notes")
    languages = pills(test, "language")
    assert [option.content for option in languages.proto.options] == [
        "English :gray[2]",
        "German :gray[1]",
    ]
    offered = [option.content for option in pills(test, "label").proto.options]
    assert offered == ["to read :gray[2]", "speed :gray[1]"]
    pills(test, "language").set_value(["de"]).run()
    assert listed(test) == {"woerter"}
    assert test.query_params["language"] == "de"
    told = texts(screen("about")).replace("\\", "")
    assert "The papers are in English and German; the encoder reads English." in told
