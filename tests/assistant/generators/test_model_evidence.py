"""The evidence that is really sent to a model."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.generators.model_evidence import MOST_READ, by_rank, by_relevance
from assistant.generators.prompted import PromptedGenerator
from assistant.learned.relevance import RELEVANCE
from assistant.models.together import Patience, TogetherModel
from assistant.models.token_counts import TokenCounts
from assistant.records import CallLog, Draft, Evidence, LabelledPaper, RequestKind, Rewrite
from corpus.encoders.pairs import PairNetwork
from corpus.records import Passage, Sentence
from tests.assistant.generators.found_evidence import found_for
from tests.assistant.generators.test_prompted import (
    EVIDENCE,
    QueuedModel,
    long_evidence,
    make_paper,
    make_passage,
    written,
)
from tests.learned_part import write_learned_part
from tests.standin_chat import StandinChat, reply

QUESTION = "How many queries does the Cranfield collection have?"
FILLER = "The weather was pleasant and the committee met in the afternoon to talk about its budget."
ANSWER = "The Cranfield collection has 225 queries and 1,400 abstracts on aerodynamics."


def passage_of(paper: str, number: int, *sentences: str, section: str = "Body") -> Passage:
    text, spans = "", []
    for sentence in sentences:
        spans.append(Sentence(len(text), len(text) + len(sentence) + 1))
        text += f"{sentence} "
    return replace(make_passage(paper, number, text, section), sentences=tuple(spans))


def off_the_point(label: int, passages: int = 3) -> LabelledPaper:
    """Return a paper of long passages that say nothing of the question."""
    return make_paper(
        label,
        "Minutes of a Committee",
        *(
            passage_of(f"p{label}", 2 * number, f"Meeting {number} was in town {label}.", *[FILLER] * 6)
            for number in range(passages)
        ),
    )


def answering(label: int) -> LabelledPaper:
    """Return a paper whose last passage answers the question."""
    last = passage_of(f"p{label}", 9, FILLER, ANSWER, *[FILLER] * 5)
    return make_paper(label, "Test Collections", passage_of(f"p{label}", 0, *[FILLER] * 6), last)


THREE = Evidence((off_the_point(1), off_the_point(2), answering(3)))


def asked(question: str = QUESTION, kind: RequestKind = "fact") -> Rewrite:
    return Rewrite(question, question, kind=kind)


def sent(evidence: Evidence, rewrite: Rewrite, **changes: Any) -> tuple[str, tuple[str, ...]]:
    """Return the prompt sent to a model, and the ids of the passages left out of it."""
    model, log = QueuedModel("It has 225 [3]."), CallLog()
    list(PromptedGenerator(model, **changes).write_draft(found_for(rewrite, evidence), (), log))
    return model.sent[0][1].content, log.calls[0].left_out


def test_the_passage_that_answers_is_kept_where_there_is_room_for_one():
    by_labels = sent(THREE, asked(), context=2_650, order=by_rank)[0]
    user, left_out = sent(THREE, asked(), context=2_650)
    assert ANSWER not in by_labels
    assert ANSWER in user
    assert "[3] ⟦paper 3⟧" in user
    assert "p3#9" not in left_out
    assert left_out


def test_labels_and_the_order_of_papers_stay():
    user, _ = sent(THREE, asked())
    places = [user.index(f"[{label}] ⟦paper {label}⟧") for label in (1, 2, 3)]
    assert places == sorted(places)
    third = user[places[2] :]
    assert third.index(FILLER) < third.index(ANSWER)


def test_papers_that_say_nothing_of_it_are_given_by_one_passage_each():
    _, left_out = sent(THREE, asked())
    kept = [passage.id for paper in THREE.papers for passage in paper.passages if passage.id not in left_out]
    assert [identifier.partition("#")[0] for identifier in kept] == ["p1", "p2", "p3", "p3"]


def test_one_paper_that_is_asked_alone_is_given_whole():
    assert sent(Evidence((off_the_point(1),)), asked())[1] == ()


def test_a_summary_takes_a_paper_as_it_goes():
    evidence = Evidence((answering(1),))
    assert by_relevance(found_for(asked("Summarise this paper.", "summary"), evidence))[0] == "p1#0"
    assert by_relevance(found_for(asked(QUESTION, "fact"), evidence))[0] == "p1#9"


def test_what_a_passage_is_read_with_is_as_good_as_the_passage():
    table = passage_of("p1", 9, FILLER, section="Data")
    caption = passage_of("p1", 8, ANSWER, section="Data")
    evidence = Evidence((replace(off_the_point(1), passages=(*off_the_point(1).passages, caption, table)),))
    assert set(by_relevance(found_for(asked(), evidence))[:2]) == {"p1#8", "p1#9"}


@pytest.mark.parametrize("is_there", ["no card", "no network"])
def test_without_the_learned_part_the_order_is_that_of_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: str
) -> None:
    if is_there == "no card":
        (tmp_path / f"{RELEVANCE}.json").write_text("{}")
    else:
        scales = {"all": {"intercept": 0.0}, "features": {"intercept": 0.0}}
        write_learned_part(tmp_path, RELEVANCE, scales, trunk_sha256="another")
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(tmp_path))
    assert by_relevance(found_for(asked(), THREE)) == by_rank(found_for(asked(), THREE))


def test_the_network_reads_few_texts_of_any_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    reads = PairNetwork.read

    def counted(network: PairNetwork, pairs: Sequence[tuple[str, str]]) -> Any:
        read.append(len(pairs))
        return reads(network, pairs)

    monkeypatch.setattr(PairNetwork, "read", counted)
    evidence = Evidence(tuple(off_the_point(label, 40) for label in range(1, 31)))
    started = time.process_time()
    assert len(set(by_relevance(found_for(asked(), evidence)))) >= 30
    assert sum(read) == MOST_READ <= 32
    assert time.process_time() - started < 5


def test_drafts_of_one_answer_are_given_what_the_first_was(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    reads = PairNetwork.read

    def counted(network: PairNetwork, pairs: Sequence[tuple[str, str]]) -> Any:
        read.append(len(pairs))
        return reads(network, pairs)

    monkeypatch.setattr(PairNetwork, "read", counted)
    sampled = PromptedGenerator(QueuedModel(*["Fine [3]."] * 4)).for_sampling()
    log, found = CallLog(), found_for(asked(), THREE)
    with ThreadPoolExecutor(4) as drafts:
        list(drafts.map(lambda _: list(sampled.write_draft(found, (), log)), range(4)))
    assert len(read) == 1
    assert len({call.messages for call in log.calls}) == 1


@pytest.mark.parametrize("evidence", [Evidence(), Evidence((make_paper(1, "Empty"),))])
def test_evidence_without_passages_has_no_order(evidence: Evidence) -> None:
    assert by_relevance(found_for(asked(), evidence)) == ()


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What is the F1?", []),
        ("Who parsed with trees?", [1, 2]),
        ("Which authors parse?", [1, 2]),
        ("What did Family7 parse?", [2]),
        ("What did family2 et al. parse?", [1, 2]),
        ("What is Family?", []),
    ],
)
def test_authors_are_given_where_they_are_asked_for(question: str, shown: list[int]) -> None:
    user, _ = sent(EVIDENCE, asked(question))
    blocks = user.split("⟦end of paper 1⟧")
    assert [label for label, block in enumerate(blocks[:2], start=1) if "Authors: " in block] == shown


def test_authors_whose_name_is_a_word_of_every_text_are_not_asked_for():
    paper = EVIDENCE.papers[0]
    will = replace(paper.paper.authors[0], family="Will")
    named = Evidence((replace(paper, paper=replace(paper.paper, authors=(will,))),))
    assert "Authors: " not in sent(named, asked("Which parser will work?"))[0]


def test_a_first_question_has_no_block_of_earlier_turns():
    model = QueuedModel("Fine [1].")
    written(PromptedGenerator(model))
    assert [user.content.split("\n")[0] for _, user in model.sent] == ["The papers:"]


def test_what_a_server_counted_decides_how_much_it_is_given_next():
    evidence, log, counts = long_evidence(3, 3), CallLog(), TokenCounts()
    with StandinChat(reply("Fine [1].", usage=(1_500, 7)), default=reply("Fine [1].")) as server:
        model = TogetherModel("m", "M", api_key="k", base_url=server.url, patience=Patience(5, 5))
        generator = PromptedGenerator(model, context=4_000, order=by_rank, counts=counts)
        drafts = [written(writer, evidence=evidence, log=log)[1] for writer in (generator, generator)]
        other = written(generator.for_sampling(), evidence=evidence, log=log)[1]
        model.close()
    first, second = (len(draft.left_out) for draft in drafts)
    assert first > second
    assert len(other.left_out) == second
    sizes = [sum(len(message.content.encode()) for message in call.messages) for call in log.calls]
    assert sizes[1] / counts.bytes_per_token("m") + 700 < 4_000
    assert isinstance(drafts[0], Draft)
