"""Labels of clusters: terms that set them apart, as their papers write them, and nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.paper_map.cluster_labels import Text, label_clusters

TRANSLATION: list[Text] = [
    ("Neural Machine Translation with Attention", "We propose a novel neural machine translation system."),
    ("Domains in Neural Machine Translation", "Neural machine translation suffers from new domains."),
    ("Byte Pairs for Rare Words", "We improve BLEU scores of neural machine translation."),
    ("BLEU and Its Discontents", "What BLEU measures in neural machine translation."),
]
PARSING: list[Text] = [
    ("Dependency Parsing as Head Selection", "A dependency parser with $O(n^2)$ states, \\textbf{fast}."),
    ("A Parser for Chinese Treebanks", "We present results of dependency parsing on Chinese treebanks."),
    ("Treebanks of Many Languages", "Treebanks for dependency parsing: see https://treebanks.example/x."),
    ("What Parsers Get Wrong", "An analysis of errors of dependency parsing on treebanks."),
]


def test_a_label_names_what_sets_a_cluster_apart() -> None:
    first, second = label_clusters([TRANSLATION, PARSING])
    assert first.startswith("Neural machine translation, BLEU")
    assert second.startswith("Dependency parsing, treebanks")
    (label,) = label_clusters([PARSING])
    assert label.startswith("Dependency parsing, treebanks")
    assert label_clusters([]) == []
    mixed = [*TRANSLATION, *PARSING]
    labels = label_clusters([mixed[::2], mixed[1::2], TRANSLATION, PARSING])
    terms = [term.lower() for label in labels for term in label.split(", ")]
    assert len(terms) == len(set(terms))
    for label in labels:
        words = [word[:5] for word in re.findall(r"\w+", label.lower())]
        assert len(words) == len(set(words))


@pytest.mark.parametrize(
    "texts",
    [
        [("", "")],
        [("The", "and of"), ("A Novel Approach", "We propose a new method with good results.")],
        [("2022", "$x^2$ \\cite{a} {} -- ... 10% !!")],
        [("Natural language processing", "machine learning")],
        [("x" * 5000, "y" * 5000)],
    ],
)
def test_what_has_no_terms_is_said_to_be_various(texts: list[Text]) -> None:
    assert label_clusters([texts, texts]) == ["Various subjects", "Various subjects (2)"]


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("Coreference Resolution", "Coreference resolution"),
        ("BERTology", "BERTology"),
        ("L'étude du français", "Français, étude"),
        ("\\emph{Metaphors} of $\\alpha$-Trees", "Metaphors, trees"),
        ("Sarcasm: <b>Irony</b>", "Irony, Sarcasm"),
        ("Sentiment, sentiments and SENTIMENTS", "Sentiments"),
    ],
)
def test_terms_are_written_as_the_papers_write_them(title: str, label: str) -> None:
    other = [("Parsing", "parsing")] * 3
    text = (title, "coreference resolution, trees")
    assert label_clusters([[text] * 3, other])[0] == label


@given(st.lists(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=200)), max_size=4), max_size=4))
def test_any_texts_have_labels_of_words_that_differ(clusters: list[list[Text]]) -> None:
    labels = label_clusters(clusters)
    assert len(labels) == len(clusters)
    assert len(set(labels)) == len(labels)
    for label in labels:
        assert re.fullmatch(r"[\w'’()-]+(?:,? [\w'’()-]+)*", label)
