"""The retriever's command on a toy set: it learns, goes on after a kill, and writes an encoder to open."""

import json
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("peft", reason="peft, of the extra train, is not installed")

import torch
from typer.testing import CliRunner

from corpus.encoder_choice import open_encoder
from corpus.encoders.base import BUNDLED_SHA256, SentenceEncoder
from corpus.settings import read_settings
from training.__main__ import app
from training.network import PairTokenizer
from training.retriever import Examples, RetrieverPlan, SentenceReader, info_nce
from training.sought import SoughtTexts, sought_texts, without_markers

SUBJECTS = (
    "parsing tagging summarization translation retrieval dialogue speech morphology coreference paraphrase"
    " sentiment semantics"
).split()
SHORT = ("--length", "32", "--tokens-per-step", "250", "--rank", "2")


def anthology(name: str, year: int) -> dict[str, str]:
    """Return a file of the Anthology by its name, with a paper on every subject."""
    papers = "".join(
        f"<paper id='{number}'><title>On {subject} of {year}</title><author><last>B</last></author>"
        f"<abstract>This paper of {year} is about {subject}.</abstract><bibkey>b-{number}</bibkey></paper>"
        for number, subject in enumerate(SUBJECTS, start=1)
    )
    meta = f"<meta><booktitle>B</booktitle><year>{year}</year><venue>trail</venue></meta>"
    volume = (
        f"<volume id='main' type='proceedings'>{meta}<frontmatter><bibkey>f-{name}</bibkey></frontmatter>"
    )
    head = f"<?xml version='1.0' encoding='UTF-8'?>\n<collection id='{name}'>"
    return {f"acl_anthology/xml/{name}.xml": f"{head}{volume}{papers}</volume></collection>"}


def lines(rows: Iterable[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, rows)) + "\n"


def turns(subject: str) -> list[dict[str, str]]:
    first, second = f"Who began {subject}?", f"When did they end {subject}?"
    return [
        {"q": first, "rewrite": first, "ans_kw": "lee and kim"},
        {"q": "When did they end it?", "rewrite": second, "ans_kw": f"{subject} last year"},
    ]


def write_data(data: Path, **changes: str) -> Path:
    """Write the smallest folder of sets, all files of which the recipe reads."""
    numbered = list(enumerate(SUBJECTS))
    kinds = [(kind, subject) for subject in SUBJECTS for kind in ("kind", "corpus")]
    files = {
        "citations/scisummnet_papers.jsonl": lines(
            {"paper_id": f"P{number}", "title": f"A book on {subject}", "abstract": f"We study {subject}."}
            for number, subject in numbered
        ),
        "citations/scisummnet_citances.jsonl": lines(
            {"paper_id": f"P{number}", "citing_text": f"As was done for {subject} long ago (Lee, 2001)."}
            for number, subject in numbered
        ),
        "questions/qasper_train.jsonl": lines(
            {"question": f"What {kind} of {subject} is there?", "paper_id": subject, "answers": ["Two"]}
            | {"evidence": [{"sentences": ["There are two.", f"One {kind} of {subject} is ours."]}]}
            for kind, subject in kinds
        ),
        "rewriting/canard_train.jsonl": lines(
            {"id": subject, "turns": turns(subject)} for subject in SUBJECTS
        ),
        "acl_anthology/xml/schema.rnc": (
            pkgutil.get_data("acl_anthology", "data/schema.rnc") or b""
        ).decode(),
    }
    for name, text in (files | anthology("2020.a", 2020) | changes).items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(text, encoding="utf-8")
    return data


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


def run(data: Path, folder: Path, *options: str) -> Any:
    folders = ["--data", str(data), "--work", str(folder / "work"), "--out", str(folder / "out")]
    return CliRunner().invoke(app, ["retriever", *folders, *SHORT, *options])


def test_the_encoder_opens_and_its_card_says_what_was_learned_from(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [
        {"reference": f"{name} is old.", "dialogue": f"<user>: Is {name} old?\n<assistant>: {name} is old."}
        for name in SUBJECTS
    ]
    dialogues = tmp_path / "refgpt.jsonl"
    dialogues.write_text("\n".join(map(json.dumps, told)))
    most = len(told) - 1
    options = ("--context", "concatenated", "--learning-rate", "0.01", "--dialogues", str(dialogues))
    options += ("--most-dialogues", str(most))
    made = run(data, tmp_path, *options)
    assert made.exit_code == 0, made.output
    assert not (tmp_path / "work" / "checkpoint.pt").exists()
    monkeypatch.setenv("PAPER_TRAIL_ENCODER", str(tmp_path / "out"))
    encoder = open_encoder(read_settings())
    assert encoder.sha256 != BUNDLED_SHA256
    ours, theirs = (opened.encode_query("songs in translation") for opened in (encoder, SentenceEncoder()))
    assert np.linalg.norm(ours) == pytest.approx(1, abs=1e-5)
    assert 0 < ours @ theirs < 0.9999
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    sets = {"citations", "titles", "qasper", "canard-rewrites", "canard-answers", "refgpt"}
    assert set(card["data"]["queries"]) == set(card["licences"]) == sets
    assert card["numbers"]["context"] == "concatenated"
    assert (card["numbers"]["length"], card["numbers"]["epochs"], card["numbers"]["seed"]) == (32, 1, 13)
    # Some of them are held back.
    assert 0 < card["data"]["queries"]["refgpt"] <= most < len(told)
    assert card["curve"][-1]["step"] > 1
    assert card["held_back"]["before"].keys() == card["held_back"]["after"].keys() <= sets
    assert "CC BY-SA 4.0" in card["licences"].values()
    assert json.loads(made.stdout.splitlines()[-1]) == card["held_back"]
    again = run(data, tmp_path, *options)
    assert (again.exit_code, "holds this model already" in again.output) == (0, True)
    other = run(data, tmp_path, "--seed", "1")
    assert (other.exit_code, "holds another model" in other.output) == (2, True)


def test_it_learns_what_the_bundled_encoder_cannot_know(tmp_path: Path) -> None:
    names = dict(
        zip("zork frob quux blim dax wug toma kiki bouba lorp mep snee".split(), SUBJECTS, strict=True)
    )
    citing = lines(
        {"paper_id": f"P{number}", "citing_text": f"Of what they call {name} there are {count}."}
        for count in range(20)
        for number, name in enumerate(names)
    )
    data = write_data(tmp_path / "data", **{"citations/scisummnet_citances.jsonl": citing})
    made = run(data, tmp_path, "--learning-rate", "0.01", "--rank", "16", "--tokens-per-step", "600")
    assert made.exit_code == 0, made.output

    def found(encoder: SentenceEncoder) -> int:
        texts = encoder.encode_passages(
            [f"A book on {subject}\nWe study {subject}." for subject in names.values()]
        )
        asked = [encoder.encode_query(f"Of what they call {name} there are 99.") for name in names]
        return sum(int((texts @ query).argmax()) == number for number, query in enumerate(asked))

    before, after = found(SentenceEncoder()), found(SentenceEncoder(str(tmp_path / "out")))
    assert after >= before + 5


CITANCES = "citations/scisummnet_citances.jsonl"
QASPER, XML = "questions/qasper_train.jsonl", "acl_anthology/xml/2020.a.xml"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (CITANCES, '{"paper_id": "P1"}', "scisummnet_citances.jsonl, line 1"),
        (CITANCES, '{"paper_id": "P1", "citing_text": "See (Lee, 2001)."}', "The set citations in"),
        (QASPER, "", "qasper_train.jsonl is empty"),
        (QASPER, '{"question": "a", "paper_id": "b", "evidence": []}', "The set qasper in"),
        (XML, "<collection id='2020.a'>", "2020.a.xml cannot be read"),
        (XML, "<collection id='2020.a'/>", "The set titles in"),
        ("rewriting/canard_train.jsonl", '{"id": "a", "turns": [{"q": "b"}]}', "canard_train.jsonl, line 1"),
    ],
)
def test_a_set_that_cannot_teach_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    result = run(write_data(tmp_path / "data", **{file: text}), tmp_path)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_a_run_may_read_fewer_tokens(tmp_path: Path, data: Path) -> None:
    assert run(data, tmp_path, "--most-tokens", "600").exit_code == 0
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert 300 < card["data"]["tokens"] <= 600
    nothing = run(data, tmp_path / "none", "--most-tokens", "1")
    assert (nothing.exit_code, "no example" in nothing.output) == (2, True)


def test_only_free_years_and_what_does_not_measure_are_learned(tmp_path: Path) -> None:
    citeacl = {
        "citations/citeacl/queries.jsonl": '{"_id": "q", "text": "x"}',
        "citations/citeacl/qrels.tsv": "query-id\tcorpus-id\tscore\nq\t2020.a-main.3\t1\n",
    }
    data = write_data(tmp_path, **anthology("2009.b", 2009), **citeacl)
    titles = sought_texts(data, {"titles": 100}, 1)
    assert len(titles) == len(SUBJECTS) - 1
    assert "2020.a-main.3" not in {row.group for row in titles}
    assert all("2020" in row.query for row in titles)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("We use TnT (Brants, 2000), a tagger.", "We use TnT, a tagger."),
        ("Chiang et al. (2008) add a rule.", "add a rule."),
        ("It was tried before [3, 4].", "It was tried before."),
        ("Nothing is cited here.", "Nothing is cited here."),
    ],
)
def test_markers_are_stripped(sentence: str, said: str) -> None:
    assert without_markers(sentence) == said


def test_negatives_are_near_by_words_and_never_right() -> None:
    rows = [SoughtTexts("s", str(n), f"word{n}", (f"word{n} here", f"word{n} there")) for n in range(30)]
    rows += [SoughtTexts("other", "o", "word1", ("word1 elsewhere",))]
    examples = Examples(rows, RetrieverPlan())
    (found,) = examples.negatives(rows[1], "word1")
    assert found not in {*rows[1].texts, "word1 elsewhere"}
    assert examples.negatives(rows[-1], "word1") == []


def test_what_is_right_besides_counts_for_nothing() -> None:
    queries = torch.eye(2)
    texts = torch.tensor([[0.6, 0.8], [0.0, 1.0], [1.0, 0.0]])
    own, nothing = torch.tensor([0, 1]), torch.zeros(2, 3, dtype=torch.bool)
    also = nothing.clone()
    also[0, 2] = True
    assert float(info_nce(queries, texts, own, also)) < 1e-1 < float(info_nce(queries, texts, own, nothing))


def test_before_it_learns_the_reader_is_the_bundled_encoder() -> None:
    texts = ["A short text", "Another one that is a little longer than the first"]
    reader = SentenceReader(2).eval()
    with torch.no_grad():
        vectors = reader.read(PairTokenizer(256).pairs(texts)).numpy()
    assert np.allclose(vectors, SentenceEncoder().encode_passages(texts), atol=1e-5)
