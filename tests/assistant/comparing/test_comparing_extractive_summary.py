"""Summaries without a model: every sentence cited, carried and readable alone, nothing said twice."""

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.checking.citations import check_sentences
from assistant.checking.scorer import SupportScorer
from assistant.checking.scores.registry import CITING_SCORES, measure_scores
from assistant.checking.support import SupportCheck
from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.protocol import SourceText
from assistant.records import Evidence
from corpus.encoders.base import SentenceEncoder
from corpus.records import Author, Topic
from corpus.sentences import sentence_spans
from tests.assistant.comparing.comparing_texts import description, source, summarised, task
from tests.shifted_encoder import ShiftedEncoder

_ENDS_WITH_LABELS = re.compile(r"(?:\[\d+\])+\.$")
PARSING = (
    "We propose a graph parser for speech parsing that is trained on film captions. "
    "Our experiments show that the graph parser reaches an accuracy of 91% on film captions.",
    "This paper presents a lattice parser for speech parsing in noisy rooms. "
    "The results show that the lattice parser improves the accuracy by 4 points in noisy rooms. "
    "In future work, we plan to adapt the lattice parser to telephone speech.",
    "We describe a fast shift-reduce parser for speech parsing on small devices. "
    "It achieves a speed of 90 sentences per second on a telephone.",
)
SOUP = (
    "We introduce a corpus of soup recipes from four countries for recipe retrieval. "
    "The evaluation shows that annotators agree on 88% of the soup recipes.",
    "We present a retrieval model for recipe retrieval that ranks soup recipes by their ingredients. "
    "Our retrieval model outperforms BM25 by 6 points on soup recipes.",
)
NAMES = ("Ash", "Birch", "Cedar", "Dorn", "Elm")


def papers() -> dict[int, SourceText]:
    texts = [*zip(PARSING, ("Graph", "Lattice", "Fast"), strict=True)]
    made = {0: description("Parsing of spoken language on small devices")}
    for label, (text, kind) in enumerate(texts, 1):
        authors: tuple[Author, ...] = (Author("A.", NAMES[label]), Author("B.", "Fir"), Author("C.", "Oak"))
        made[label] = source(label, f"{kind} speech parsing", text, year=2015 + label, authors=authors)
    for label, text in enumerate(SOUP, 4):
        authors = (Author("A.", NAMES[label - 1]), Author("B.", "Pine"))
        made[label] = source(label, "Soups and recipe retrieval", text, year=2010 + label, authors=authors)
    return made


@pytest.fixture(scope="module")
def comparer(encoder: SentenceEncoder) -> ExtractiveComparer:
    return ExtractiveComparer(encoder)


def sentences_of(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text)]


def assert_is_whole(text: str, texts: Mapping[int, SourceText]) -> None:
    sentences = sentences_of(text)
    assert len(set(sentences)) == len(sentences)
    assert all(_ENDS_WITH_LABELS.search(sentence) for sentence in sentences)
    assert {int(label) for label in re.findall(r"\[(\d+)\]", text)} == set(texts) - {0}


def test_all_papers_are_told_grouped_by_what_they_share(comparer: ExtractiveComparer) -> None:
    texts = papers()
    text = summarised(comparer, texts)
    assert_is_whole(text, texts)
    parsing = next(part for part in text.split("\n\n") if "graph parser" in part)
    assert "soup" not in parsing
    # In order of years, the newest last.
    assert parsing.index("graph parser") < parsing.index("lattice parser") < parsing.index("shift-reduce")
    # The paper nearest to the description comes last.
    assert text.index("soup") < text.index("graph parser")


def test_a_paper_is_told_by_what_it_does_what_came_of_it_and_what_limits_it(
    comparer: ExtractiveComparer,
) -> None:
    text = summarised(comparer, papers())
    does, found, limits = [sentence for sentence in sentences_of(text) if sentence.endswith("[2].")]
    assert does.startswith("Cedar et al. present a lattice parser")
    assert "improves the accuracy by 4 points" in found
    assert limits == "In future work, Cedar et al. plan to adapt the lattice parser to telephone speech [2]."


def test_what_it_writes_is_carried_by_what_it_cites_whatever_that_is_encoded_with(
    comparer: ExtractiveComparer,
) -> None:
    texts, encoder = papers(), SentenceEncoder()
    evidence = Evidence(tuple(text.paper for label, text in texts.items() if label))
    for read in (True, False):
        text = summarised(comparer, texts, read=read)
        assert_is_whole(text, texts)
        weighed = SupportCheck(evidence, SupportScorer(encoder)).weigh(check_sentences(text, evidence))
        assert measure_scores(CITING_SCORES, weighed) == {"citation_recall": 1.0, "citation_precision": 1.0}


def test_the_same_papers_make_the_same_text(comparer: ExtractiveComparer) -> None:
    assert summarised(comparer, papers()) == summarised(ExtractiveComparer(SentenceEncoder()), papers())


def test_another_encoder_was_held_to_the_bundled_ones_cosines(
    comparer: ExtractiveComparer, encoder: SentenceEncoder
) -> None:
    texts, shifted = papers(), ExtractiveComparer(ShiftedEncoder(encoder, 0.6))
    for text in texts.values():
        assert comparer.extract_key_elements(text, task()) == shifted.extract_key_elements(text, task())
    assert summarised(comparer, texts) == summarised(shifted, texts)


def test_of_a_paper_known_by_its_title_nothing_more_is_told(comparer: ExtractiveComparer) -> None:
    texts = papers() | {3: source(3, "Prosody and speech parsing", "")}
    text = summarised(comparer, texts)
    assert_is_whole(text, texts)
    assert "Of “Prosody and speech parsing” only the title is told here [3]." in text


def test_two_papers_and_no_description_to_speak_of(comparer: ExtractiveComparer) -> None:
    texts = {label: text for label, text in papers().items() if label < 3} | {0: description("parsing")}
    assert_is_whole(summarised(comparer, texts), texts)


def test_the_same_text_twice_is_told_once(comparer: ExtractiveComparer) -> None:
    text = PARSING[0]
    texts = {0: description("x"), 1: source(1, "Speech parsing", text), 2: source(2, "Speech parsing", text)}
    written = summarised(comparer, texts)
    assert_is_whole(written, texts)
    assert written.count("is trained on film captions") == 1


def test_thirty_papers(comparer: ExtractiveComparer) -> None:
    kinds = "film news court school radio street kitchen garden harbour mountain".split()
    texts = {0: description("Parsing of speech in many places")}
    for label in range(1, 31):
        place, number = kinds[label % 10], label * 7
        text = f"We propose a parser for {place} speech that learns from {number} hours of recordings."
        texts[label] = source(label, f"Parsing {place} speech {label}", text, year=1990 + label)
    assert_is_whole(summarised(comparer, texts), texts)


WORDS = st.sampled_from(
    "we our propose parser soup speech results show that it outperforms 91% novel first not future work plan "
    "this these [3] (2009) et al. Table however the of in a “x” π \u200b \x0b".split(" ")
)
TEXTS = st.lists(WORDS, min_size=3, max_size=40).map(lambda found: " ".join(found).capitalize() + ".")


@settings(max_examples=12)
@given(st.lists(TEXTS, min_size=2, max_size=4))
def test_whatever_the_papers_say(comparer: ExtractiveComparer, found: list[str]) -> None:
    texts = {0: description("x")}
    texts |= {label: source(label, f"Paper {label}", text) for label, text in enumerate(found, 1)}
    assert_is_whole(summarised(comparer, texts), texts)


def with_topics(texts: dict[int, SourceText], *labels: int, topic: Topic) -> None:
    for label in labels:
        paper = texts[label].paper
        texts[label] = replace(
            texts[label], paper=replace(paper, paper=replace(paper.paper, topics=(topic,)))
        )


def test_a_task_that_papers_of_a_group_share_is_said_of_those_that_carry_it(
    comparer: ExtractiveComparer,
) -> None:
    texts = papers()
    with_topics(texts, 4, 5, topic=Topic("task", "recipe retrieval", 1.0))
    text = summarised(comparer, texts)
    assert_is_whole(text, texts)
    assert "Recipe retrieval is studied in [4][5]. Dorn and Pine" in text


def test_what_all_papers_study_was_said_of_all_of_them(comparer: ExtractiveComparer) -> None:
    texts = {label: text for label, text in papers().items() if label < 4}
    with_topics(texts, 1, 2, 3, topic=Topic("task", "speech parsing", 1.0))
    text = summarised(comparer, texts)
    assert_is_whole(text, texts)
    assert "studied in" not in text


def test_a_paper_by_one_author_was_told_as_a_paper_of_nobody(comparer: ExtractiveComparer) -> None:
    texts = {0: description("answers that are refused"), 1: papers()[1]}
    text = "This note brings together unanswerable questions, selective prediction and calibration."
    texts[2] = source(2, "Knowing When Not to Answer: On Abstention", text, authors=(Author("Ada", "Lin"),))
    assert "A paper by Lin brings together unanswerable questions" in summarised(comparer, texts)


def test_papers_that_only_stood_side_by_side_were_opposed(comparer: ExtractiveComparer) -> None:
    assert not re.search(r"\], (?:and|while) ", summarised(comparer, papers()))
