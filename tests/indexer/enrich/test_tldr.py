"""One sentence on a paper: which is chosen, that it is the same every time, and the weights' file."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.enrich.tldr import TLDR_WEIGHTS, choose_tldr, tldr_candidates

TITLE = "Sorting Letters by Smell"
ABSTRACT = (
    "Letters are everywhere and many people write them.",
    "However, existing sorters ignore the smell of letters, which makes them slow.",
    "To address this, we propose a neural model (SNIFF) that sorts letters by their smell.",
    "Experiments show that it outperforms existing sorters by 12 % accuracy.",
)
SENTENCES = st.lists(
    st.one_of(st.sampled_from([*ABSTRACT, "", " ", "and so on:"]), st.text(max_size=40)), max_size=6
)


def test_the_paper_s_own_work_is_told_without_what_leads_to_it() -> None:
    chosen = choose_tldr(TITLE, ABSTRACT)
    assert chosen is not None
    assert chosen.text == "We propose a neural model that sorts letters by their smell."
    assert chosen.sentence == 2
    assert choose_tldr(TITLE, ["we propose letters, which smell, as:"]) is not None
    chosen = choose_tldr("Letters", ["we propose a model of letters.", "Roses are red."])
    assert chosen is not None
    assert chosen.sentence == 1


@pytest.mark.parametrize("sentences", [(), ("",), (" ", "\n")])
def test_without_sentences_there_is_nothing_to_tell(sentences: tuple[str, ...]) -> None:
    assert choose_tldr(TITLE, sentences) is None


@given(st.text(max_size=30), SENTENCES)
def test_what_is_told_is_of_the_abstract(title: str, sentences: list[str]) -> None:
    chosen = choose_tldr(title, sentences)
    assert chosen == choose_tldr(title, sentences)
    assert (chosen is None) == (not any(sentence.strip() for sentence in sentences))
    if chosen:
        rest = iter(re.findall(r"[^\W_]+", sentences[chosen.sentence].lower()))
        assert all(word in rest for word in re.findall(r"[^\W_]+", chosen.text.lower()))
        assert chosen.text.strip()


def test_a_text_without_an_end_takes_no_longer() -> None:
    def seconds(times: int) -> float:
        sentences = [f"{sentence} {number}" for number in range(times) for sentence in ABSTRACT]
        clock = time.process_time()
        choose_tldr(TITLE, sentences)
        return time.process_time() - clock

    assert min(seconds(2000) for _ in range(5)) < 5 * min(seconds(50) for _ in range(5))


def test_the_weights_are_of_features_that_sentences_have() -> None:
    named = set(
        re.findall(
            r'^"((?:sentence|head|tail|begins|has) .+)" =', Path(TLDR_WEIGHTS).read_text("utf-8"), re.M
        )
    )
    assert {"head clause", "tail which", "begins we", "sentence title"} <= named
    shown = {name for candidate in tldr_candidates(TITLE, ABSTRACT) for name in candidate.features}
    assert named & shown
