"""Small models compare paper by paper, over a real socket: what they write is checked before it is kept."""

from collections.abc import Callable

import pytest

from assistant.comparing.prompted.one_by_one import NOTE, OneByOne
from assistant.comparing.records import Comparison, ComparisonOptions, ComparisonRequest
from assistant.trail.comparison_replay import replay_comparison
from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus
from tests.assistant.comparing.compared_papers import compared, comparer_over
from tests.standin_chat import Received, StandinChat, reply

IDS = tuple(f"field-notes-retrieval/{name}" for name in ("bm25", "dense-retrieval", "rank-fusion"))
ABOUT = "A search engine for small collections of recipes, by words and by meaning."
TRUE = {
    1: "BM25 needs no training data and answers queries from an inverted index [1].",
    2: "[2] encodes 21 million Wikipedia passages of 100 words with BERT-base.",
    3: "The proposed work compares fusion rules that add scores with rules that add ranks [3].",
}


def request(**options: object) -> ComparisonRequest:
    return ComparisonRequest(IDS, ABOUT, ComparisonOptions(**options))  # type: ignore[arg-type]


@pytest.fixture
def compare(demo_corpus: Corpus, encoder: Encoder) -> Callable[..., Comparison]:
    def run(said: Callable[[int], str], **options: object) -> Comparison:
        def play(received: Received) -> object:
            asked = received.body["messages"][-1]["content"]
            return reply(said(int(asked.rstrip(":").rpartition("[")[2].rstrip("]"))))

        with (
            StandinChat(default=play) as server,
            comparer_over(server, demo_corpus, encoder, summaries=OneByOne(encoder)) as comparer,
        ):
            return compared(comparer, request(**options))

    return run


def test_each_paper_is_told_of_in_the_sentences_that_it_carries(compare) -> None:
    comparison = compare(TRUE.__getitem__)
    assert comparison.answer.text == (
        "BM25 needs no training data and answers queries from an inverted index [1]. "
        "“Dense Passage Retrieval” encodes 21 million Wikipedia passages of 100 words with BERT-base [2]. "
        "“Rank Fusion for Hybrid Search” compares fusion rules that add scores with rules that add ranks [3]."
    )
    assert comparison.answer.citation_recall == 1.0
    assert NOTE in comparison.remarks


def test_it_asks_once_for_each_sample_and_neither_for_elements_nor_for_votes(compare) -> None:
    comparison = compare(TRUE.__getitem__, samples=2, keep=1)
    assert [made.call.step for made in comparison.calls] == ["compare"] * 6
    assert all(not each.votes for each in comparison.rounds)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[2]",
        "Penguins swim faster than any other bird [1].",
        '{"sentences": []}',
        "BM25 is a search engine for small collections of recipes [1].",
        "As an AI language model I cannot compare papers.",
        "To the best of our knowledge, recipes are the first",
    ],
)
def test_fault_a_small_model_lost_papers_and_wrote_the_description_again(compare, said: str) -> None:
    comparison = compare(lambda label: said)
    assert comparison.answer.cited_labels == (1, 2, 3)
    assert comparison.answer.citation_recall == 1.0
    told = comparison.answer.text.lower()
    assert not any(word in told for word in ("penguins", "recipes", "language model", "sentences"))


def test_a_sentence_is_told_once(compare) -> None:
    comparison = compare(lambda label: TRUE[1])
    assert comparison.answer.text.count("training data") == 1
    assert comparison.answer.cited_labels == (1, 2, 3)


def test_its_comparisons_are_replayed_as_they_were(compare, demo_corpus, encoder) -> None:
    again = replay_comparison(compare(TRUE.__getitem__), encoder, lambda _: demo_corpus)
    assert [step.name for step in again.steps if step.differences] == []


def test_what_it_takes_is_told_before_it_is_begun(demo_corpus, encoder) -> None:
    with (
        StandinChat(default=lambda _: reply(TRUE[1])) as server,
        comparer_over(server, demo_corpus, encoder, summaries=OneByOne(encoder)) as comparer,
    ):
        planned = comparer.plan(request(samples=2, keep=1))
    assert (planned.budget.calls, planned.budget.most_calls) == (6, 6)
    assert NOTE in planned.remarks
    assert not server.requests


def test_fault_a_comparison_of_unknown_price_ended_at_its_usual_tokens(demo_corpus, encoder) -> None:
    used = reply(TRUE[1], usage=(650, 120))
    with (
        StandinChat(default=lambda _: used) as server,
        comparer_over(server, demo_corpus, encoder, summaries=OneByOne(encoder)) as comparer,
    ):
        comparison = compared(comparer, request(samples=2, keep=1))
    assert len(comparison.calls) == 6
    assert comparer.plan(request(samples=2, keep=1)).budget.price is None
