"""Answers of a small model: a short prompt, a careful check, and what stands in for a bad reply."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from assistant.chat import Assistant
from assistant.generators.prompted import ModelOptions
from assistant.models.menu import ModelEntry, size_named
from assistant.prompts.material import estimate_tokens
from assistant.records import Answer, AskOptions, Conversation, Quick, Turn, Written
from assistant.trail.replay import Replayer
from assistant.trail.transcript import from_json, to_json
from assistant.wording import changes
from corpus.text import words
from tests.assistant.asked_questions import NOT_ANSWERED, QUESTION
from tests.standin_chat import Behaviour, StandinChat, reply

SMALL = ModelOptions(is_small=True, reading_seconds=8.0)
SAID = "Reciprocal rank fusion needs no normalisation of scores. Penguins swim faster than any other bird."


@pytest.fixture
def small(assistant_over: Callable[..., Assistant]) -> Callable[[StandinChat], Assistant]:
    """Return a function that makes an assistant with a small model at a server's address."""
    return lambda server: assistant_over(server, 5.0, options=SMALL)


def sent_prompt(server: StandinChat, number: int = -1) -> str:
    return "\n".join(message["content"] for message in server.requests[number].body["messages"])


def test_fault_five_thousand_tokens_were_sent_to_a_model_that_reads_seventy_a_second(small) -> None:
    with StandinChat(reply(SAID)) as server:
        small(server).answer(QUESTION)
        prompt = sent_prompt(server)
    assert estimate_tokens(prompt, 4.0) <= 1300
    assert prompt.rstrip().endswith("Answer:") and QUESTION in prompt[-600:], "what changes comes last"
    assert "NO ANSWER" not in prompt, "whether to refuse is for the gate to decide"


def timings(tokens: int, seconds: float, cached: int = 0) -> str:
    told = {"prompt_n": tokens, "prompt_ms": seconds * 1000, "cache_n": cached}
    return json.dumps({"id": "s", "object": "chat.completion.chunk", "choices": [], "timings": told})


def test_a_slower_server_is_given_less_to_read(small) -> None:
    slow: Behaviour = reply(SAID, extra_events=(timings(500, 10.0, cached=140),))
    with StandinChat(slow, slow, slow) as server:
        assistant = small(server)
        first = assistant.answer(QUESTION)
        assistant.answer(QUESTION)
        prompts = [sent_prompt(server, number) for number in (0, 1)]
    assert len(prompts[1]) < 0.8 * len(prompts[0])
    (call,) = (call for call in first.calls if call.step == "write")
    assert call.cached_tokens == 140


def test_what_the_papers_do_not_carry_is_taken_out_and_the_trail_says_so(small) -> None:
    with StandinChat(reply(SAID)) as server:
        turn = small(server).answer(QUESTION)
    assert turn.careful and turn.finds_citations
    if not turn.answer.stands_in_for:
        assert "Penguins" not in turn.answer.text
        assert any("Penguins" in claim for claim in turn.answer.not_carried)
    (call,) = (call for call in turn.calls if call.step == "write")
    assert call.reply == SAID


@pytest.mark.parametrize(
    "said",
    ["NO ANSWER: the papers do not say.", "Penguins swim faster than any other bird.", "", '{"a": 1}', "[1]"],
)
def test_fault_a_small_model_refused_what_the_papers_answer(small, ask_demo, said: str) -> None:
    with StandinChat(reply(said)) as server:
        turn = small(server).answer(QUESTION)
    assert turn.answer.refusal is None
    assert (turn.answer.stands_in_for, bool(turn.answer.remark)) == ("m", True)
    assert turn.answer.text == ask_demo(QUESTION).answer.text


def test_a_large_model_that_refuses_is_heard_and_the_papers_answer_stands_beside_it(
    assistant_over, ask_demo
) -> None:
    with StandinChat(reply("NO ANSWER: they do not compare the two.")) as server:
        turn = assistant_over(server).answer(QUESTION)
    assert not turn.careful
    assert turn.answer.text == ask_demo(QUESTION).answer.text
    assert "they do not compare the two" in turn.answer.remark


def test_a_slow_model_is_preceded_by_the_quick_answer(small, ask_demo) -> None:
    with StandinChat(reply(SAID), reply(SAID)) as server:
        events = list(small(server).ask(QUESTION, (), AskOptions()))
    kinds = [type(event) for event in events]
    assert kinds.index(Quick) < kinds.index(Written)
    (quick,) = (event.turn for event in events if isinstance(event, Quick))
    assert quick.answer.text == ask_demo(QUESTION).answer.text
    turn = events[-1].turn
    assert turn.quick == (None if turn.answer.stands_in_for else quick.answer)


@pytest.mark.parametrize(
    "fast", [reply(SAID, extra_events=(timings(500, 0.1),)), reply(SAID, usage=(9_000, 7))]
)
def test_a_quick_model_is_not_preceded_by_anything(small, fast: Behaviour) -> None:
    with StandinChat(fast, fast) as server:
        assistant = small(server)
        assistant.answer(QUESTION)
        assert not any(isinstance(event, Quick) for event in assistant.ask(QUESTION, (), AskOptions()))


def test_where_the_papers_do_not_answer_a_small_model_is_not_asked(small) -> None:
    with StandinChat() as server:
        turn = small(server).answer(NOT_ANSWERED)
    assert turn.answer.refusal is not None
    assert not server.requests


@pytest.mark.parametrize("said", [SAID, "NO ANSWER: nothing.", "Penguins swim faster than any bird [1]."])
def test_its_turns_are_replayed_as_they_were(small, demo_corpus, encoder, said: str) -> None:
    with StandinChat(reply(said)) as server:
        turn = small(server).answer(QUESTION)
    kept = from_json(to_json(Conversation("c", "T", (turn,))))
    (again,) = Replayer(encoder, lambda _: demo_corpus).replay(kept)
    assert [(step.step, step.differences) for step in again.steps if step.differences] == []


def test_trails_of_earlier_versions_are_checked_as_they_were_then() -> None:
    fields = {field: Turn.__dataclass_fields__[field].default for field in ("finds_citations", "careful")}
    assert fields == {"finds_citations": False, "careful": False}


def test_care_can_be_asked_for_and_left(small, assistant_over) -> None:
    with StandinChat(reply(SAID), reply(SAID)) as server:
        careless = small(server).answer(QUESTION, (), replace(AskOptions(), careful=False))
        careful = assistant_over(server).answer(QUESTION, (), replace(AskOptions(), careful=True))
    assert "Penguins" in careless.answer.text
    assert "Penguins" not in careful.answer.text


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Qwen2.5-1.5B-Instruct", 1.5),
        ("qwen2.5-coder-1.5b-instruct.gguf", 1.5),
        ("SmolLM2-135M-Instruct", 0.135),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507-tput", 235.0),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", None),
        ("llama3", None),
        ("model-4bit", None),
    ],
)
def test_the_size_of_a_model_is_read_from_its_name(name: str, size: float | None) -> None:
    assert size_named(name) == size


def test_a_model_is_as_large_as_its_entry_says() -> None:
    entry = ModelEntry(id="a-1.5b-model", label="M", provider="openai-compatible")
    assert entry.is_small
    assert not entry.model_copy(update={"parameters": 46.7}).is_small
    assert not entry.model_copy(update={"id": "of-no-size"}).is_small


LIST = "Which papers deal with dense retrieval?"


def test_fault_a_list_lost_papers_that_fit_and_gained_others(small, ask_demo) -> None:
    without = ask_demo(LIST).answer
    first, *others = without.cited_labels
    assert others
    line = next(sentence.claim for sentence in without.sentences if sentence.labels == (first,)).rstrip(".")
    said = f"- {line} [{first}].\n- Penguins swim faster than any other bird [{others[0]}]."
    with StandinChat(reply(said)) as server:
        turn = small(server).answer(LIST)
    assert turn.rewrite.kind == "list"
    assert turn.answer.cited_labels == without.cited_labels
    assert "Penguins" not in turn.answer.text and not turn.answer.stands_in_for
    assert f"{len(others)} line" in turn.answer.remark


def test_a_list_that_tells_of_no_paper_that_fits_is_replaced(small, ask_demo) -> None:
    with StandinChat(reply("Penguins swim faster than any other bird.")) as server:
        turn = small(server).answer(LIST)
    assert (turn.answer.text, turn.answer.stands_in_for) == (ask_demo(LIST).answer.text, "m")


def test_fault_lines_of_a_list_had_no_titles_and_said_we(small, ask_demo, demo_corpus) -> None:
    first, *_ = ask_demo(LIST).answer.cited_labels
    paper = next(each for each in ask_demo(LIST).evidence.papers if each.label == first)
    told = paper.passages[0].sentence_text(0)
    said = f"Paper {first}: Yes, we show that {told[:1].lower()}{told[1:]}"
    with StandinChat(reply(said)) as server:
        answer = small(server).answer(LIST).answer
    line = answer.text.splitlines()[0]
    assert line.startswith(f"- “{paper.paper.title}”: ")
    assert not {"yes", "we", "paper"} & set(words(line.partition("”")[2]))


def test_fault_the_title_that_heads_a_line_was_said_twice(small, ask_demo) -> None:
    without = ask_demo(LIST)
    first, *_ = without.answer.cited_labels
    paper = next(each for each in without.evidence.papers if each.label == first).paper
    asked = "describes how dense retrieval encodes questions and passages as vectors"
    with StandinChat(reply(f"- {paper.title} (2022) {asked} [{first}].")) as server:
        answer = small(server).answer(LIST).answer
    line = answer.text.splitlines()[0]
    assert line.count(paper.title) == 1
    assert answer.stands_in_for or line.endswith(f"”: D{asked[1:]} [{first}].")


def test_fault_a_small_model_turned_a_follow_up_into_an_answer(small, ask_demo) -> None:
    history = (ask_demo("What did SQuAD 2.0 add?"),)
    with StandinChat(reply("People reach 89.5 F1 on SQuAD 2.0 [1].")) as server:
        turn = small(server).answer("How well do people do on it?", history)
    assert [call.step for call in turn.calls if call.messages] == ["write"]
    assert "SQuAD 2.0" in turn.rewrite.search_query


SLOWER = "{} is slower than {} because an optimisation problem is solved for each pair of texts [1]."
FALSE, TRUE = SLOWER.format("BERTScore", "MoverScore"), SLOWER.format("MoverScore", "BERTScore")


@pytest.mark.parametrize("said", [FALSE, f"{TRUE} {FALSE}"])
def test_fault_sides_of_a_comparison_were_exchanged(small, ask_demo, said: str) -> None:
    asked = "How does BERTScore differ from MoverScore?"
    with StandinChat(reply(said)) as server:
        answer = small(server).answer(asked).answer
    assert (answer.text, answer.stands_in_for) == (ask_demo(asked).answer.text, "m")


def test_an_overview_of_fewer_papers_is_replaced(small, ask_demo) -> None:
    asked = "What is known about how reliable people are when they judge summaries?"
    without = ask_demo(asked)
    assert without.rewrite.kind == "synthesis" and len(without.answer.cited_labels) > 1
    line = without.answer.sentences[0].claim.rstrip(".")
    with StandinChat(reply(f"{line} [{without.answer.sentences[0].labels[0]}].")) as server:
        answer = small(server).answer(asked).answer
    assert (answer.text, answer.remark) == (
        without.answer.text,
        "It wrote of fewer papers than this answer does.",
    )


def test_fault_readers_were_told_where_on_the_server_a_model_lies() -> None:
    (told,) = changes(Answer("It ranks.", stands_in_for="/srv/models/tiny.gguf", remark="It was empty."))
    assert "tiny.gguf" in told and "/srv" not in told
