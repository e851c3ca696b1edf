"""The classifier of sentences: citations in any style, the chain, training on made and on real sections."""

import itertools
import json
import operator
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from typer.testing import CliRunner

from corpus.encoders.base import SentenceEncoder
from evaluation.__main__ import app
from evaluation.input_files import EvaluationError
from evaluation.summaries.tags import Chain, fit_chain
from evaluation.summaries.citation_style import CITE, neutral, with_labels
from evaluation.summaries.tags import (
    TAGS,
    TaggedSection,
    citing_by_labels,
    read_sections,
    split_sections,
)
from evaluation.summaries.tags import SentenceTagger, tag_weights
from evaluation.summaries.tags import place_sentences

STYLES = [
    ("Lee et al. (2019) rank passages.", f"{CITE} rank passages.", 1),
    ("Lee and Kim (2019a) rank passages.", f"{CITE} rank passages.", 1),
    ("Lee (2019, 2020) ranks passages.", f"{CITE} ranks passages.", 2),
    ("Passages are ranked (Lee et al., 2019).", f"Passages are ranked {CITE}.", 1),
    (
        "Passages are ranked (Lee et al. 2019; van der Berg and Kim, 2020) .",
        f"Passages are ranked {CITE}.",
        2,
    ),
    ("Passages are ranked (see Lee, 2019, for more).", f"Passages are ranked {CITE}.", 1),
    ("Passages are ranked [3].", f"Passages are ranked {CITE}.", 1),
    ("Passages are ranked [3][4].", f"Passages are ranked {CITE}.", 2),
    ("Passages are ranked [3, 4] and read [5].", f"Passages are ranked {CITE} and read {CITE}.", 3),
    ("Lee et al. rank passages [3].", f"{CITE} rank passages.", 1),
    ("Lee et al. rank passages.", f"{CITE} rank passages.", 0),
    ("Müller-Schmidt et al. (2019) rank.", f"{CITE} rank.", 1),
    ("Lee et al. (2019) and Kim (2020) rank.", f"{CITE} rank.", 2),
    ("Passages are ranked (in 2019).", "Passages are ranked (in 2019).", 0),
    ("In 2019 passages of SemEval 2012 were ranked (see Section 3).", None, 0),
    ("Passages of a task (SemEval 2012) were ranked.", None, 0),
    ("Passages are ranked (Lee 2019).", f"Passages are ranked {CITE}.", 1),
    ("As Lee et al., 2019 and Kim and Lee, 2020 have it.", f"As {CITE} have it.", 2),
    ("", "", 0),
]


@pytest.mark.parametrize(("written", "read", "works"), STYLES)
def test_citations_of_any_style_become_one_token(written, read, works):
    found = neutral(written)
    assert found.text == (written if read is None else read)
    assert len(found.cited) == works


@pytest.mark.parametrize(
    ("before", "sentence", "read", "fresh"),
    [
        ("It is quick [3].", "It misses paraphrases [3].", "It misses paraphrases.", 0),
        ("It is quick [3].", "It misses paraphrases [4].", f"It misses paraphrases {CITE}.", 1),
        ("Both are quick [3][4].", "One misses paraphrases [4].", "One misses paraphrases.", 0),
        ("It is quick [3].", "It and another rank [3][4].", f"It and another rank {CITE}.", 1),
    ],
)
def test_a_label_that_goes_on_about_a_work_is_read_as_nobody_would_cite_it_again(
    before, sentence, read, fresh
):
    found = neutral(sentence, neutral(before).cited)
    assert found.text == read
    assert len(found.fresh) == fresh
    assert found.cited == neutral(sentence).cited


@given(st.text(st.sampled_from("Le eal.,() []1920;&andé\n-–§"), max_size=80))
def test_any_text_can_be_read(text):
    found = neutral(text)
    assert found.text == " ".join(found.text.split())
    assert found.fresh == found.cited


@pytest.mark.parametrize(
    "piece", ["(", "Lee ", "Lee, ", "A-", "(Lee 2019 ", "de la ", "Lee and ", "[1, 2", "A"]
)
def test_no_text_takes_for_ever_to_read(piece):
    hostile = piece * (40_000 // len(piece))
    assert neutral(hostile).text
    assert with_labels(hostile, {})


@given(st.lists(st.lists(st.sampled_from(["We rank [1].", "It is quick.", "So (Lee, 2019)."]), max_size=4)))
def test_sentences_keep_their_places(paragraphs):
    placed = place_sentences(paragraphs)
    assert len(placed) == sum(map(len, paragraphs))
    assert [one.place for one in placed] == [place for few in paragraphs for place in range(len(few))]
    assert all((one.works_before is None) == (one.place == 0) for one in placed)


@pytest.mark.parametrize("proposed", ["The proposed work", "The work described here", "Your description"])
def test_the_proposed_work_is_read_as_a_papers_own(proposed):
    (one,) = place_sentences([[f"{proposed} is quicker than both."]])
    assert "our" in one.tokens


def random_chain(features: int, count: int, seed: int = 0) -> Chain:
    numbers = np.random.default_rng(seed)
    shapes = ((features, count), (count,), (count, count), (count,), (count,))
    return Chain(*(numbers.normal(size=shape) for shape in shapes))


def likelihoods_one_by_one(chain: Chain, rows: np.ndarray) -> np.ndarray:
    """Return what `Chain.likelihoods` must, by going through every sequence of tags of one paragraph."""
    scores = rows @ chain.weights + chain.bias
    count = scores.shape[1]
    found = np.zeros_like(scores)
    for path in itertools.product(range(count), repeat=len(rows)):
        score = sum(scores[place, tag] for place, tag in enumerate(path))
        score += sum(chain.steps[one, two] for one, two in itertools.pairwise(path))
        weight = np.exp(score + chain.first[path[0]] + chain.last[path[-1]])
        found[range(len(rows)), path] += weight
    return found / found[0].sum()


@pytest.mark.parametrize("lengths", [[1], [3], [2, 1, 4], [1, 0, 2], [4, 1]])
def test_likelihoods_are_those_of_all_sequences_of_tags(lengths):
    chain = random_chain(3, 3)
    rows = np.random.default_rng(1).normal(size=(sum(lengths), 3))
    found = chain.likelihoods(csr_matrix(rows), lengths)
    ends = list(itertools.accumulate(lengths))
    for end, length in zip(ends, lengths, strict=True):
        if length:
            part = slice(end - length, end)
            np.testing.assert_allclose(found[part], likelihoods_one_by_one(chain, rows[part]), rtol=1e-9)


def test_a_chain_learns_what_only_the_order_tells():
    chance = random.Random(0)
    # The first sentence of a paragraph shows its tag; the others have the same tag and show nothing.
    tags = [chance.randrange(2) for _ in range(40) for _ in range(1)]
    rows = np.array(
        [[float(tag), 1 - float(tag)] if not place else [0.0, 0.0] for tag in tags for place in range(3)]
    )
    gold = np.array([tag for tag in tags for _ in range(3)])
    chain = fit_chain(csr_matrix(rows), gold, [3] * 40, 2, 0.1)
    assert (chain.likelihoods(csr_matrix(rows), [3] * 40).argmax(axis=1) == gold).all()


SENTENCES = {
    "Single_summ": "{name} et al. ({year}) propose a {thing} that ranks passages.",
    "Multi_summ": "{name} ({year}) and Kim (2001) both use a {thing}.",
    "Narrative_cite": "The {thing} is widely used ({name} et al., {year}; Kim, 2001).",
    "Reflection": "In contrast, our {thing} needs no labels.",
    "Transition": "Work on the {thing} falls into two groups.",
    "Other": "{thing}",
}


def made_sections(count: int = 40) -> list[dict]:
    chance = random.Random(0)
    sections = []
    for number in range(count):
        paragraphs = []
        for _ in range(2):
            tags = [chance.choice(TAGS) for _ in range(5)]
            sentences = [
                SENTENCES[tag].format(
                    name=chance.choice(["Lee", "Garcia", "Weber"]),
                    year=chance.randrange(1990, 2022),
                    thing=chance.choice(["parser", "ranker", "reader"]),
                )
                for tag in tags
            ]
            paragraphs.append({"sentences": sentences, "tags": tags, "citation_spans": []})
        sections.append({"set": "CORWA", "s2_paper_id": str(number), "paragraphs": paragraphs})
    return sections


def write_sections(file: Path, sections: list[dict]) -> Path:
    file.write_text("".join(json.dumps(section) + "\n" for section in sections), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """Train on made sections through the command; return the file of weights and the figures printed."""
    folder = tmp_path_factory.mktemp("tags")
    sections = write_sections(folder / "sections.jsonl", made_sections())
    out = folder / "weights.json"
    result = CliRunner().invoke(app, ["train-tags", "--corwa", str(sections), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "macro-F1" in result.output
    return out, json.loads(result.output.splitlines()[-1])


def test_training_tells_made_sentences_apart_and_says_how_well(trained):
    _, figures = trained
    assert figures["held_out"]["macro_f1"] == figures["held_out"]["accuracy"] == 1.0
    assert figures["held_out_f1"] == dict.fromkeys(TAGS, 1.0)
    assert figures["held_out"]["majority_accuracy"] < 0.3
    assert figures["held_out"]["papers"] + figures["papers"] == 40


def test_shares_of_real_sections_stand_beside_the_classifiers_own(trained):
    figures = trained[1]
    assert figures["held_out_sections_tagged"] == figures["held_out_sections"]
    tags = [tag for one in made_sections() for few in one["paragraphs"] for tag in few["tags"]]
    shares = figures["real_sections"]
    gold = sum(tag in ("Multi_summ", "Reflection") for tag in tags) / len(tags)
    assert shares["comparative_by_tag"] == pytest.approx(gold, abs=1e-4)
    several = sum(tag in ("Multi_summ", "Narrative_cite") for tag in tags) / len(tags)
    assert shares["comparative_by_count"] == pytest.approx(several, abs=1e-4)
    assert max(gold, several) < shares["comparative"] < gold + several
    assert sum(figures["real_tags"].values()) == pytest.approx(1.0, abs=1e-3)


def test_made_sentences_are_told_apart_by_labels_too(trained):
    assert trained[1]["held_out_citing_by_labels"]["accuracy"] > 0.9


def test_sections_are_made_to_cite_by_labels():
    paragraph = {
        "sentences": [
            "Lee et al. (2019) rank passages.",
            "They are quick.",
            "So does Kim (2020); see (Lee et al., 2019; Weber, 2001).",
            "It is open.",
        ],
        "tags": ["Single_summ", "Single_summ", "Narrative_cite", "Transition"],
    }
    section = TaggedSection.model_validate({"s2_paper_id": "1", "paragraphs": [paragraph]})
    assert citing_by_labels(section).text == (
        (
            "Lee et al. [1] rank passages.",
            "They are quick [1].",
            "So does Kim [2]; see [1][3].",
            "It is open.",
        ),
    )


def test_no_text_of_the_sections_is_in_the_weights(trained):
    written = trained[0].read_text(encoding="utf-8").lower()
    assert not [word for word in ("garcia", "passages", "widely") if word in written]


def test_trained_weights_tag_labels_like_names(trained, encoder: SentenceEncoder):
    tagger = SentenceTagger(tag_weights(trained[0]).chain(), encoder)
    tagged = tagger.tag(
        [["Lee et al. propose a parser that ranks passages [1].", "In contrast, our parser needs no labels."]]
    )
    assert [one.tag for one in tagged] == ["Single_summ", "Reflection"]
    assert [one.compares_by_tag for one in tagged] == [False, True]
    assert [one.works for one in tagged] == [1, 0]
    assert tagger.tag([]) == tagger.tag([[]]) == ()


def test_the_shipped_weights_tell_their_provenance():
    provenance = tag_weights().provenance
    assert {
        "trained_on",
        "encoder",
        "held_out",
        "held_out_f1",
        "real_sections",
        "real_tags",
    } <= provenance.keys()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 2: the line"),
        (
            json.dumps({"s2_paper_id": "1", "paragraphs": [{"sentences": ["a"], "tags": []}]}),
            "1 sentences have 0",
        ),
        (json.dumps({"s2_paper_id": "1", "paragraphs": [{"sentences": ["a"], "tags": ["Odd"]}]}), "tags"),
        (json.dumps({"paragraphs": []}), "s2_paper_id"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, line, problem):
    file = tmp_path / "sections.jsonl"
    file.write_text(json.dumps(made_sections(1)[0]) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match=f"line 2.*{problem}" if "line 2" not in problem else problem):
        read_sections(file)


def test_too_few_sections_are_not_trained_on(tmp_path):
    file = write_sections(tmp_path / "sections.jsonl", made_sections(1))
    result = CliRunner().invoke(app, ["train-tags", "--corwa", str(file), "--out", str(tmp_path / "w.json")])
    assert result.exit_code == 2
    assert "too few sections" in result.output
    assert not (tmp_path / "w.json").exists()


def test_weights_that_cannot_be_read_say_how_to_train_them(tmp_path):
    (tmp_path / "w.json").write_text("{}")
    with pytest.raises(EvaluationError, match="train-tags"):
        tag_weights(tmp_path / "w.json")


def test_a_paper_is_never_on_both_sides(shared: Path):
    sections = read_sections(shared / "data" / "related_work" / "corwa.jsonl")
    known, held = split_sections(sections)
    assert (len(held), len(known), sum(len(one.tags) for one in held)) == (113, 452, 1657)
    assert not {one.s2_paper_id for one in held} & {one.s2_paper_id for one in known}


def test_shipped_weights_tag_real_sections_held_back_as_they_say(shared: Path, encoder: SentenceEncoder):
    sections = split_sections(read_sections(shared / "data" / "related_work" / "corwa.jsonl"))[1][:8]
    tagger = SentenceTagger(tag_weights().chain(), encoder)
    found = [one.tag for section in sections for one in tagger.tag(section.text)]
    gold = [tag for section in sections for tag in section.tags]
    assert sum(map(operator.eq, found, gold)) / len(gold) > 0.74
