"""The classifier of sentences: citations in any style, the chain, training on made and on real sections."""

import itertools
import operator
import random
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from corpus.encoders.base import Encoder
from evaluation.summaries.citation_style import CITE, neutral, with_labels
from evaluation.summaries.tags import TAGS, Chain, SentenceTagger, read_sections, split_sections, tag_weights
from tests.evaluation.commands import figures_in, invoke, write_lines

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
    "piece", ["(", "Lee ", "Lee, ", "A-", "(Lee 2019 ", "de la ", "Lee and ", "[1, 2", "A"]
)
def test_no_text_takes_for_ever_to_read(piece):
    hostile = piece * (40_000 // len(piece))
    assert neutral(hostile).text
    assert with_labels(hostile, {})


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
    numbers = np.random.default_rng(0)
    chain = Chain(*(numbers.normal(size=shape) for shape in ((3, 3), (3,), (3, 3), (3,), (3,))))
    rows = np.random.default_rng(1).normal(size=(sum(lengths), 3))
    found = chain.likelihoods(csr_matrix(rows), lengths)
    ends = list(itertools.accumulate(lengths))
    for end, length in zip(ends, lengths, strict=True):
        if length:
            part = slice(end - length, end)
            np.testing.assert_allclose(found[part], likelihoods_one_by_one(chain, rows[part]), rtol=1e-9)


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


def test_training_tells_made_sentences_apart_and_says_how_well(tmp_path: Path):
    sections = write_lines(tmp_path / "sections.jsonl", *made_sections())
    result = invoke("train-tags", "--corwa", sections, "--out", tmp_path / "weights.json")
    found = figures_in(result)
    assert "macro-F1" in result.output
    assert found["held_out"]["macro_f1"] == found["held_out"]["accuracy"] == 1.0
    assert found["held_out_f1"] == dict.fromkeys(TAGS, 1.0)
    assert found["held_out"]["majority_accuracy"] < 0.3
    assert found["held_out"]["papers"] + found["papers"] == 40


def test_shipped_weights_tag_real_sections_held_back_as_they_say(shared: Path, encoder: Encoder):
    sections = split_sections(read_sections(shared / "data" / "related_work" / "corwa.jsonl"))[1][:8]
    tagger = SentenceTagger(tag_weights().chain(), encoder)
    found = [one.tag for section in sections for one in tagger.tag(section.text)]
    gold = [tag for section in sections for tag in section.tags]
    assert sum(map(operator.eq, found, gold)) / len(gold) > 0.74
