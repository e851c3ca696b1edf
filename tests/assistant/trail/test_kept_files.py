"""A trail and a comparison that an earlier Paper Trail exported: still read, replayed and exported.

A stand-in model wrote the first two turns of the trail and all of the comparison; the extractive writer the
third turn. Both are kept as they were, over the demonstration collection.
"""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import pytest

from assistant.exports.registry import ConversationFormatName, OptionName
from corpus.encoders.base import SentenceEncoder
from corpus.store.corpus import Corpus
from tests.demo_home import build_demo_home

FILES = Path(__file__).parent / "files"
FORMATS = [("conversation", form) for form in get_args(ConversationFormatName)] + [
    ("comparison", form) for form in get_args(OptionName)
]


def _papers(document):
    if isinstance(document, dict) and "topics" in document and "id" in document:
        yield document
    elif isinstance(document, dict | list):
        for part in document.values() if isinstance(document, dict) else document:
            yield from _papers(part)


def _as_known_then(after, before):
    """Return `after` without what `before` did not record, all of which is empty or what was done anyway."""
    if isinstance(after, list) and isinstance(before, list):
        return [_as_known_then(*both) for both in zip(after, before, strict=True)]
    if not (isinstance(after, dict) and isinstance(before, dict)):
        return after
    since = {name: value for name, value in after.items() if name not in before}
    assert since.pop("passages", []) in ([], [3])  # of a turn what was read, of its provenance no sizes
    assert not any(since.values()), since
    return {name: _as_known_then(after[name], before[name]) for name in after if name in before}


@pytest.fixture(scope="module")
def encoder():
    """Return the encoder in torch, with which the files were recorded."""
    return SentenceEncoder()


@pytest.fixture(scope="module")
def demo_home(tmp_path_factory):
    return build_demo_home(tmp_path_factory.getbasetemp(), "torch")


@pytest.fixture(scope="module")
def demo_corpus(demo_home, encoder):
    return Corpus.open(demo_home / "corpus", encoder)


@pytest.fixture
def replayed(run, tmp_path, demo_corpus):
    """Return a function that replays a kept file, with the corpus's current versions and topics."""
    topics = {paper.id: paper.topics for paper in demo_corpus.papers()}
    versions = [
        {"table": name, "version": version} for name, version in demo_corpus.manifest.versions.items()
    ]

    def replay(name):
        document = json.loads((FILES / name).read_text(encoding="utf-8"))
        whole = document.get("comparison")
        for record in [whole] if whole else document["conversation"]["turns"]:
            record["provenance"]["corpus"] = versions
        for paper in _papers(document):
            paper["topics"] = [asdict(topic) for topic in topics[paper["id"]]]
        file = tmp_path / name
        file.write_text(json.dumps(document), encoding="utf-8")
        return json.loads(run("replay", str(file), "--json").stdout)

    return replay


def test_what_a_model_wrote_before_differs_by_what_is_read_of_its_papers_alone(replayed):
    """Tables were no passages of their own then: one paper has others, and words are counted in others."""
    turn = replayed("conversation.json")["turns"][0]
    outcomes = {step["step"]: step["outcome"] for step in turn["steps"]}
    assert outcomes == {
        "rewrite": "equal",
        "retrieve": "different",
        "evidence": "different",
        "check": "equal",
    }
    said = [difference for step in turn["steps"] for difference in step["differences"]]
    others = [
        difference
        for difference in said
        if not re.search(r"score: was|lexical: was|language: was ''", difference)
    ]
    assert others
    assert all("rank-fusion#" in difference for difference in others), others


def test_a_comparison_of_before_would_send_anew_what_holds_the_paper_read_otherwise_alone(replayed):
    compared = replayed("comparison.json")
    said = {step["step"]: step["differences"] for step in compared["steps"] if step["differences"]}
    assert [line.partition(":")[0] for line in said.pop("calls")] == [
        "elements 2", "round 2 sample 1", "round 2 sample 2"
    ]  # fmt: skip
    assert (said, compared["impossible"]) == ({}, "")


def test_an_older_trail_without_a_model_is_replayed_with_every_difference(replayed):
    turn = replayed("conversation.json")["turns"][2]
    assert turn["impossible"] == ""
    assert [step["step"] for step in turn["steps"]] == ["rewrite", "retrieve", "evidence", "check"]
    assert turn["equal"] == all(step["outcome"] == "equal" for step in turn["steps"])
    assert all(bool(step["differences"]) == (step["outcome"] == "different") for step in turn["steps"])


@pytest.mark.parametrize(("kept", "form"), FORMATS)
def test_what_was_exported_before_is_written_in_every_format(run, tmp_path, kept, form):
    written = tmp_path / f"written.{form}"
    done = run("export", str(FILES / f"{kept}.json"), "--output", str(written))
    assert done.exit_code == 0, done.stderr
    assert len(written.read_bytes()) > 200
    if form == "json":
        before = json.loads((FILES / f"{kept}.json").read_text(encoding="utf-8"))
        after = json.loads(written.read_bytes())[kept]
        assert _as_known_then(after, before[kept]) == before[kept]


@pytest.mark.parametrize(
    ("kept", "group"), [("conversation", "conversations"), ("comparison", "comparisons")]
)
def test_what_was_exported_before_can_be_kept_and_shown_again(run, kept, group):
    imported = run(group, "import", str(FILES / f"{kept}.json"), "--json")
    assert imported.exit_code == 0, imported.stderr
    shown = run(group, "show", json.loads(imported.stdout)["id"])
    assert (shown.exit_code, shown.stdout[:2]) == (0, "# ")
