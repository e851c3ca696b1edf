"""Thoughts in the text of a reply: what is left of it, however it comes in pieces."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.models.arriving import ReplyText
from assistant.models.thoughts import LONGEST_HEADER, MARKS, begins_thoughts

FINAL = "<|start|>assistant<|channel|>final<|message|>"
ANALYSIS = "<|channel|>analysis<|message|>"


def read(*pieces: str, begun: bool = False, is_whole: bool = True) -> tuple[str, str]:
    """Return the text passed on, and the reply."""
    text = ReplyText(begun_in_thoughts=begun)
    shown = "".join(map(text.pass_on, pieces)) + text.rest(is_whole=is_whole)
    return shown, text.whole()


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("<think>Hm</think>Three.", "Three."),
        ("\n<thinking>\nHm, <think>?\n</thinking>\nThree.", "Three."),
        ("<thought>a</thought><reasoning>b</reasoning>Three.", "Three."),
        ("[THINK]Hm[/THINK]Three [1].", "Three [1]."),
        ("<|channel>thought\nHm<channel|>Three.", "Three."),
        ("<think></think>\n\nThree.", "Three."),
        ("<think>Hm. Now </thinking>, or not", ""),
    ],
)
def test_thoughts_at_the_start_are_left_out(written: str, kept: str) -> None:
    assert read(*written) == (kept, kept)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Three [1].\n<think>\nIs it?\n</think>\n\nAnd four.", "Three [1].\nAnd four."),
        ("Three. <think>Is it?</think> And four.", "Three. And four."),
        ("Three [1] <think>Is it?</think> and four.", "Three [1] and four."),
        ("Three.\n<think>Is it", "Three.\n"),
    ],
)
def test_thoughts_between_sentences_are_left_out(written: str, kept: str) -> None:
    assert read(*written) == (kept, kept)


@pytest.mark.parametrize(
    "written",
    [
        "R1 thinks between <think> and </think> [1].",
        "R1 begins with `<think>`, and `</think>` ends it [1].",
        'The end is "</think>" [1].',
        "Tokens such as <|channel|> begin a header [1].",
        "A long way from <|channel|> " + "to its end " * 20 + "<|message|>.",
        "Their analysis has 3 parts.",
        "[T [1], <thi, <|",
    ],
)
def test_marks_that_a_reply_speaks_of_stay(written: str) -> None:
    assert read(*written) == (written, written)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Is it 3? Yes.\n</think>\n\nThree [1].", "Three [1]."),
        ("The user wants it.</think>Three.", "Three."),
        ("They say <think> first.\nSo 3.\n</think>\nThree.", "Three."),
        ('It says "3"</think>Three.', "Three."),
        ("First.</think>No, again.</think>Three.", "Three."),
        ("<think>I close with </think> and so on.</think>Three.", "Three."),
        ("Only thoughts.</think>", ""),
        ("analysisWe need 3.assistantfinalThree.", "Three."),
        ("analysisWe need", ""),
    ],
)
def test_thoughts_without_a_beginning_do_not_reach_the_reply(written: str, kept: str) -> None:
    assert read(*written)[1] == kept


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (f"{ANALYSIS}Hm.<|end|>{FINAL}Three.<|return|>", "Three."),
        (f"<|start|>assistant{ANALYSIS}Hm.<|end|>{FINAL}Three.", "Three."),
        (f"{ANALYSIS}Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>So.<|end|>{FINAL}3", "3"),
        (f"{ANALYSIS}Hm.<|end|>{FINAL.replace('final', 'final <|constrain|>json')}{{}}", "{}"),
        ("<|channel|>final<|message|>Three.", "Three."),
        (f"{ANALYSIS}Hm, never", ""),
        ("<|channel|>analy", ""),
        (f"{ANALYSIS}Hm <|channel|> {'x' * LONGEST_HEADER} more{FINAL}3", "3"),
        ("<|start|>assistant<|channel|>commentary to=functions.final<|message|>{}", ""),
    ],
)
def test_only_the_final_message_of_gpt_oss_is_its_reply(written: str, kept: str) -> None:
    assert read(*written) == (kept, kept)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Three [1].<|END_RESPONSE|>", "Three [1]."),
        ("I will look at 3.\n<|START_RESPONSE|>Three.<|END_RESPONSE|><|END_OF_TURN_TOKEN|>", "Three."),
        ("Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nThree.\n[END FINAL RESPONSE]", "Three."),
        (
            "<|begin_of_thought|>Hm.<|end_of_thought|>\n<|begin_of_solution|>Three.<|end_of_solution|>",
            "Three.",
        ),
        ("<think>Hm.</think>\n<response>Three [1].</response>", "Three [1]."),
        ("<answer>\nThree [1].\n</answer>", "Three [1].\n"),
        ("Hm.</think><answer>Three.</answer>", "Three."),
        ("<unused94>thought\nHm.<unused95>Three.", "Three."),
        ("<|START_THINKING|>Hm, never", ""),
    ],
)
def test_the_reply_is_what_stands_between_its_marks(written: str, kept: str) -> None:
    assert read(*written)[1] == kept


@pytest.mark.parametrize(
    "written",
    [
        "Granite writes <response> and </response> round its reply [1].",
        "Replies stand in <answer> tags, which </answer> ends [1].",
        "Cohere begins with `<|START_RESPONSE|>` [1].",
        "Sentences end with <|START_RESPONSE|> in [2].",
    ],
)
def test_marks_of_replies_that_a_reply_speaks_of_stay(written: str) -> None:
    assert read(*written) == (written, written)


@pytest.mark.parametrize(
    "end",
    [
        *("<｜end▁of▁sentence｜>", "<｜end▁of▁sentence｜><｜User｜>And four?", "<|eot_id|>", "<|eom_id|>"),
        *("<end_of_turn>\n<start_of_turn>user\nAnd four?", "<turn|>", "<|end_of_text|>", "<|eot|>"),
        *("<|END_OF_TURN_TOKEN|>", "[|endofturn|]", "<|im_end|>", "<|end_of_text|>\n<|start_of_role|>user"),
    ],
)
@pytest.mark.parametrize(
    "begin",
    [
        *("", "<s>", "<bos><start_of_turn>model\n", "<｜begin▁of▁sentence｜><｜Assistant｜>"),
        *("<|begin_of_text|><|start_header_id|>assistant<|end_header_id|>\n\n", "[|assistant|]"),
        *("<|start_of_role|>assistant<|end_of_role|>", "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"),
    ],
)
def test_the_marks_of_a_turn_are_left_out_and_what_follows_it(begin: str, end: str) -> None:
    shown, whole = read(*f"{begin}Three [1].{end}")
    assert (shown.strip(), whole) == ("Three [1].", "Three [1].")


def test_what_is_known_to_begin_in_thoughts_is_passed_on_after_them_alone() -> None:
    assert read(*"Hm.\n</think>\nThree.", begun=True) == ("Three.", "Three.")
    assert read(*"<think>Hm.</think>Three.", begun=True) == ("Three.", "Three.")
    assert read(*'It says "</think>"Three" [1].', begun=True)[1] == '"Three" [1].', "whatever stands round it"
    assert read(*"Three.", begun=True) == ("Three.", "Three."), "it was whole: there were no thoughts"
    assert read(*"Hm. Three", begun=True, is_whole=False) == ("", "")


def test_a_prompt_that_begins_the_thoughts_is_known() -> None:
    assert begins_thoughts("<user>Why?<assistant><think>\n")
    assert not begins_thoughts("<user>Why?<assistant><think>\n\n</think>\n\n")
    assert not begins_thoughts("<user>What is <think>?<assistant>")


_WRITTEN = st.lists(
    st.sampled_from([*MARKS, "analysis", "final", "assistantfinal", "<|end|>", "<|im_end|>", "assistant"])
    | st.sampled_from(["\n", " ", ". ", "`", '"', "<", "[", "</", "Three [1].", "x" * LONGEST_HEADER])
    | st.text(max_size=4),
    max_size=12,
).map("".join)


@given(_WRITTEN, st.lists(st.integers(0, 200), max_size=8), st.booleans(), st.booleans())
@example("So </think", [10], False, True)
@example('"</think>"', [9], False, True)
def test_however_a_reply_is_cut_into_pieces_the_same_is_left(
    written: str, cuts: list[int], begun: bool, is_whole: bool
) -> None:
    places = sorted({0, len(written), *(cut for cut in cuts if cut < len(written))})
    pieces = [written[start:end] for start, end in pairwise(places)]
    whole = read(written, begun=begun, is_whole=is_whole)[1]
    assert read(*pieces, begun=begun, is_whole=is_whole)[1] == whole
    assert read(*written, begun=begun, is_whole=is_whole)[1] == whole


@given(st.text(), st.sampled_from(["think", "thinking", "thought", "reasoning"]), st.text())
@example('"', "think", '"')
def test_no_thought_between_marks_reaches_a_reply(thought: str, name: str, answer: str) -> None:
    begin, end = f"<{name}>", f"</{name}>"
    assert read(*f"{begin}{thought}{end}{answer}") == read(*answer)
    assert read(f"{thought}{end}{answer}", begun=True)[1] == read(*answer)[1]
