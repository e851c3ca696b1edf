"""Aspects chosen from papers: which sentences, how they are shown, and when there is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Aspect
from indexer.enrich.aspects import choose_aspects
from tests.indexer.enrich.enriched_papers import make

TITLE = "Sorting Letters by Smell"
CHALLENGE = "However, existing sorters ignore the smell of letters, which makes them slow (Post, 1999)."
APPROACH = "In this paper, we propose a model that sorts letters by their smell with a small neural network."
OUTCOME = "Experiments on two post offices show that our model outperforms existing sorters by 12% accuracy."
ABSTRACT = f"Sorting letters is an old task. {CHALLENGE} {APPROACH} {OUTCOME} The code is on our website."


def chosen(title: str, abstract: str, sections: dict[str, str] | None = None) -> dict[str, Aspect]:
    return {aspect.name: aspect for aspect in choose_aspects(*make(title, abstract, sections))}


def test_each_aspect_is_the_sentence_that_states_it_without_openings_and_citations() -> None:
    all_three = choose_aspects(*make(TITLE, ABSTRACT))
    assert [(aspect.name, aspect.passage, aspect.sentence) for aspect in all_three] == [
        ("challenge", 0, 1),
        ("approach", 0, 2),
        ("outcome", 0, 3),
    ]
    assert {aspect.writer for aspect in all_three} == {""}
    assert {aspect.overlap for aspect in all_three} == {1.0}
    aspects = chosen(TITLE, ABSTRACT)
    assert aspects["challenge"].text == (
        "Existing sorters ignore the smell of letters, which makes them slow."
    )
    assert aspects["approach"].text.startswith("We propose a model that sorts letters")
    assert aspects["outcome"].text == OUTCOME
    spaced = ABSTRACT.replace(",", " ,").replace(".", " .").replace("(", "( ").replace(")", " )")
    aspects = chosen(TITLE, spaced)
    assert aspects["approach"].text.startswith("We propose a model that sorts letters")
    assert aspects["challenge"].text.startswith("Existing sorters ignore the smell")
    assert aspects["outcome"].sentence > aspects["approach"].sentence > aspects["challenge"].sentence


def test_what_states_no_aspect_is_none() -> None:
    assert choose_aspects(*make("However, We Propose a Model That Outperforms the State of the Art")) == ()
    abstract = f"{APPROACH} {OUTCOME} Our best system does not need any labels and is less expensive."
    assert "challenge" not in chosen(TITLE, abstract)
    claim = "However, we propose a new model and show that it outperforms existing methods, which fail."
    aspects = choose_aspects(*make(TITLE, claim))
    assert len({(aspect.passage, aspect.sentence) for aspect in aspects}) == len(aspects)
    abstract = "However, we fail ( " + "2019 [1] however, " * 20_000
    assert choose_aspects(*make(TITLE, abstract, {"Introduction": abstract})) == ()


@pytest.mark.parametrize(
    ("abstract", "absent"),
    [
        ("This paper describes our submission to the shared task on letters.", {"challenge", "outcome"}),
        (f"{APPROACH} We train our model on two post offices. {OUTCOME}", {"challenge"}),
        ("Nice.", {"challenge", "approach", "outcome"}),
    ],
)
def test_an_aspect_that_no_sentence_states_is_left_out(abstract: str, absent: set[str]) -> None:
    assert not chosen(TITLE, abstract).keys() & absent


def test_the_introduction_says_what_the_abstract_does_not() -> None:
    sections = {
        "Introduction": f"Letters are many. {CHALLENGE} {APPROACH}",
        "Related Work": "However, all existing methods fail because they lack the smell of letters.",
    }
    challenge = chosen(TITLE, f"{APPROACH} {OUTCOME}", sections)["challenge"]
    assert (challenge.passage, challenge.sentence) == (1, 1)
    sections = {"Letters and Noses": f"Letters are many. {CHALLENGE}", "Results": OUTCOME}
    assert chosen(TITLE, f"{APPROACH} {OUTCOME}", sections)["challenge"].passage == 1
    abstract = f"However, word2vec does not know rare words and fails on letters. {APPROACH}"
    assert chosen(TITLE, abstract)["challenge"].text.startswith("word2vec does not know")


words = st.sampled_from([*ABSTRACT.split(), "(", ")", "[1]", "2020", "et al.", ",", "%", "\n\n", "…"])


@given(st.lists(words, max_size=60).map(" ".join), st.text(max_size=80))
def test_any_text_gives_places_that_exist(abstract: str, title: str) -> None:
    paper, passages = make(title, abstract, {"Introduction": abstract})
    aspects = choose_aspects(paper, passages)
    assert len({aspect.name for aspect in aspects}) == len(aspects)
    for aspect in aspects:
        sentence = passages[aspect.passage].sentence_text(aspect.sentence)
        shown = aspect.text.split()
        assert shown
        # Where brackets are left out, a full stop moves to the word before them.
        assert {word.rstrip(".") for word in shown[1:]} <= {
            word.rstrip(".") for word in (*sentence.split(), *map(str.strip, sentence.split("(")))
        }
