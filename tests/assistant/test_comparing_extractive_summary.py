"""Summaries and votes without a model: every sentence cited and carried, nothing said twice."""

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.citations import check_sentences
from assistant.comparing.extractive.accounts import read_account
from assistant.comparing.extractive.criteria import sentences_of
from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.extractive.relating import are_opposed, share_a_name, share_a_term
from assistant.comparing.extractive.sharing import is_plural, shared_by
from assistant.comparing.protocol import SourceText
from assistant.comparing.records import Candidate, ComparisonOptions
from assistant.records import Evidence
from assistant.support.check import SupportCheck, citation_quality
from assistant.support.scorer import SupportScorer
from corpus.encoder import SentenceEncoder
from corpus.records import Author
from tests.assistant.comparing_texts import description, source, step, work

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


def summarised(
    comparer: ExtractiveComparer,
    texts: Mapping[int, SourceText],
    sample: int = 1,
    options: ComparisonOptions | None = None,
) -> str:
    summary = ""
    for label in sorted(set(texts) - {0}):
        summary = comparer.update_summary(
            step(comparer, texts, (label,), options), summary, sample, work()
        ).text
    return summary


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
    assert re.search(r"[Ss]peech parsing is .*\[1\]\[2\]\[3\]\.", parsing)
    # In order of years, the newest last.
    assert parsing.index("graph parser") < parsing.index("lattice parser") < parsing.index("shift-reduce")
    # What comes nearest to the description stands last, and what it leaves open last of all.
    assert text.index("soup") < text.index("graph parser")
    assert text.split("\n\n")[-1].endswith("adapt the lattice parser to telephone speech [2].")


def test_what_it_writes_is_carried_by_what_it_cites(
    comparer: ExtractiveComparer, encoder: SentenceEncoder
) -> None:
    texts = papers()
    evidence = Evidence(tuple(text.paper for label, text in texts.items() if label))
    for sample in (1, 2, 3):
        text = summarised(comparer, texts, sample)
        weighed = SupportCheck(evidence, SupportScorer(encoder)).weigh(check_sentences(text, evidence))
        quality = citation_quality(weighed)
        assert quality.recall is not None
        assert quality.precision is not None
        assert min(quality.recall, quality.precision) >= 0.9


def test_samples_differ(comparer: ExtractiveComparer) -> None:
    assert len({summarised(comparer, papers(), sample) for sample in (1, 2, 3)}) > 1


def test_the_same_papers_make_the_same_text(comparer: ExtractiveComparer, encoder: SentenceEncoder) -> None:
    assert summarised(comparer, papers()) == summarised(ExtractiveComparer(encoder), papers())


def test_a_summary_of_another_process_is_gone_on_with_as_it_was_told(
    comparer: ExtractiveComparer, encoder: SentenceEncoder
) -> None:
    texts = papers()
    before = summarised(comparer, {label: texts[label] for label in range(5)}, sample=2)
    last = step(comparer, texts, (5,))
    fresh = ExtractiveComparer(encoder)
    assert fresh.update_summary(last, before, 1, work()) == comparer.update_summary(last, before, 1, work())


@pytest.mark.parametrize(
    "without", [("elements",), ("increments",), ("reflection",), ("elements", "increments")]
)
def test_ablations_are_told_too(comparer: ExtractiveComparer, without: tuple) -> None:  # type: ignore[type-arg]
    texts = papers()
    options = ComparisonOptions(without=without)
    if "increments" in without:
        whole = step(comparer, texts, (1, 2, 3, 4, 5), options)
        text = comparer.update_summary(whole, "", 1, work()).text
    else:
        text = summarised(comparer, texts, options=options)
    assert_is_whole(text, texts)


def test_of_a_paper_known_by_its_title_nothing_more_is_told(comparer: ExtractiveComparer) -> None:
    texts = papers() | {3: source(3, "Prosody and speech parsing", "")}
    text = summarised(comparer, texts)
    assert_is_whole(text, texts)
    assert "Of “Prosody and speech parsing” only the title is told here [3]." in text


def test_papers_without_years_are_never_called_later(comparer: ExtractiveComparer) -> None:
    texts = {
        label: source(label, text.paper.paper.title, text.paper.passages[0].text, year=None)
        if label
        else text
        for label, text in papers().items()
    }
    text = summarised(comparer, texts)
    assert_is_whole(text, texts)
    assert "Later" not in text


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
    everything = step(comparer, texts, tuple(range(1, 31)))
    assert_is_whole(comparer.update_summary(everything, "", 1, work()).text, texts)


WORDS = st.sampled_from(
    "we our propose parser soup speech results show that it outperforms 91% novel first not future work plan "
    "this these [3] (2009) et al. Table however the of in a “x” π \u200b \x0b".split(" ")
)
TEXTS = st.lists(WORDS, min_size=3, max_size=40).map(lambda found: " ".join(found).capitalize() + ".")


@settings(max_examples=12)
@given(st.lists(TEXTS, min_size=2, max_size=4), st.integers(1, 6))
def test_whatever_the_papers_say(comparer: ExtractiveComparer, found: list[str], sample: int) -> None:
    texts = {0: description("x")}
    texts |= {label: source(label, f"Paper {label}", text) for label, text in enumerate(found, 1)}
    assert_is_whole(summarised(comparer, texts, sample), texts)


def candidate(number: int, text: str, precision: float = 1.0) -> Candidate:
    return Candidate(number, None, text, citation_recall=precision, citation_precision=precision)


def test_every_vote_measures_one_thing(comparer: ExtractiveComparer) -> None:
    now = step(comparer, papers(), (3,))
    offered = [
        candidate(
            1, "The graph parser learns from film captions alone [1]. Soup is also good for you [2].", 0.7
        ),
        candidate(
            2,
            "The graph parser learns from film captions at night [1]. "
            "The lattice parser learns from film captions at night [2]. "
            "The third parser learns from film captions at night [3].",
            0.8,
        ),
        candidate(3, "Speech parsing by means of small graph parsers is studied in [1][2].", 0.75),
        candidate(4, "The graph parser learns from film captions at night and day [1].", 0.9),
    ]
    votes = [comparer.vote(now, offered, number, work()) for number in range(1, 5)]
    assert comparer.votes_cast(ComparisonOptions()) == 4
    assert [(vote.criterion, vote.choice) for vote in votes] == [
        ("coverage", 2),
        ("comparisons", 3),
        ("support", 4),
        ("redundancy", 3),
    ]
    assert votes[0].analysis == (
        "Candidate 2 cites 3 of the 3 papers compared so far "
        "and tells 0 of the 5 answers to what they do and what they found."
    )
    assert votes[1].analysis == "Candidate 3 relates two or more papers in 1 sentence."
    assert all(str(vote.choice) in vote.analysis for vote in votes)


def test_a_telling_without_results_won_all_votes(comparer: ExtractiveComparer) -> None:
    now = step(comparer, papers(), (2,))
    does = "Birch et al. propose a graph parser for speech parsing that is trained on film captions [1]."
    found = "Birch et al.'s experiments show that the graph parser reaches an accuracy of 91% on film"
    found += " captions [1]."
    other = "Cedar et al. present a lattice parser for speech parsing in noisy rooms [2]."
    short, full = candidate(1, f"{does} {other}", 1.0), candidate(2, f"{does} {found} {other}", 0.99)
    votes = [comparer.vote(now, [short, full], number, work()) for number in range(1, 5)]
    assert [vote.choice for vote in votes] == [2, 2, 2, 2]
    assert "tells 3 of the 4 answers" in votes[0].analysis


def test_which_of_two_equal_samples_was_last_decided_how_it_went_on(encoder: SentenceEncoder) -> None:
    texts = {0: papers()[0], 1: papers()[1], 2: papers()[2]}
    found = set()
    for order in ((1, 2), (2, 1)):
        fresh = ExtractiveComparer(encoder)
        first = step(fresh, texts, (1,))
        written = {fresh.update_summary(first, "", sample, work()).text for sample in order}
        assert len(written) == 1
        found.add(fresh.update_summary(step(fresh, texts, (2,)), written.pop(), 1, work()).text)
    assert len(found) == 1


def test_papers_that_only_stood_side_by_side_were_opposed(comparer: ExtractiveComparer) -> None:
    text = summarised(comparer, papers())
    assert not re.search(r"soup[^.]*\], (?:and|while) [^.]*pars|pars[^.]*\], (?:and|while) [^.]*soup", text)


@pytest.mark.parametrize(
    ("main", "sequel", "related"),
    [
        ("Ash studies graph parsers.", "Birch studies graph grammars.", True),
        ("Ash studies pre-training of trees.", "Birch studies pretraining of soups.", True),
        ("Ash studies speech in films.", "Birch studies speech in rooms.", False),
        ("Ash studies new models.", "Birch studies new models.", False),
    ],
    ids=["graph", "one word in two spellings", "what all study", "words of any paper"],
)
def test_sentences_are_joined_for_a_term_that_not_all_share(main: str, sequel: str, related: bool) -> None:
    openings = [main, sequel, *[f"Speech parsing of kind {number}." for number in range(5)]]
    known = [
        read_account(
            source(label, "Speech models of pretraining graph" if label < 3 else "Speech", text), None
        )
        for label, text in enumerate(openings, 1)
    ]
    assert share_a_term(main, sequel, known[:2], known) is related


def test_what_all_papers_study_was_said_of_all_of_them(comparer: ExtractiveComparer) -> None:
    texts = {label: text for label, text in papers().items() if label < 4}
    text = summarised(comparer, texts)
    assert_is_whole(text, texts)
    assert not re.search(r"(?:studied in|subject of) \[1\]\[2\]\[3\]", text)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("It is best on MultiWOZ2.1.", "Ash gains 2 points on MultiWOZ 2.2.", True),
        ("It gains 2 BLEU.", "It gains 3 BLEU points on WMT14.", True),
        ("It is best on FB15k-237.", "It is best on CNN/DailyMail.", False),
        ("It is new in NLP.", "It is best in NLP.", False),
        ("It is best.", "It is better.", False),
    ],
    ids=["two versions", "a measure", "two data sets", "a field", "none"],
)
def test_results_stand_side_by_side_where_both_name_the_same(one: str, other: str, shared: bool) -> None:
    assert share_a_name(one, other) is shared


@pytest.mark.parametrize(
    ("one", "other", "opposed"),
    [
        ("Ash trains a supervised parser.", "Birch trains an unsupervised parser.", True),
        ("Ash trains a self-supervised parser.", "Birch trains an unsupervised parser.", False),
        ("Extractive and abstractive summaries differ.", "Birch writes abstractive ones.", False),
        ("Ash parses graphs.", "Birch parses trees.", False),
    ],
    ids=["opposite", "another word", "both in one", "neither"],
)
def test_while_is_said_only_of_what_is_opposed(one: str, other: str, opposed: bool) -> None:
    assert are_opposed(one, other) is opposed
    assert are_opposed(other, one) is opposed


RESULTS = (
    "We propose GraphDST, a graph parser for state tracking. "
    "Experiments show that GraphDST gains 4 points over the baseline on MultiWOZ 2.1.",
    "We propose SlotDST, which copies values from slots for state tracking. "
    "Experimental results show that SlotDST is faster and gains 3 points on MultiWOZ 2.2.",
)


def test_results_on_the_same_data_are_told_in_one_sentence(comparer: ExtractiveComparer) -> None:
    texts = {label: text for label, text in papers().items() if label < 4}
    for label, (text, kind) in enumerate(zip(RESULTS, ("GraphDST", "SlotDST"), strict=True), 4):
        authors = (Author("A.", f"Gorse{label}"), Author("B.", "Yew"))
        title = f"{kind}: dialogue state tracking"
        texts[label] = source(label, title, text, year=2012 + label, authors=authors)
    text = summarised(comparer, texts)
    assert_is_whole(text, texts)
    assert re.search(
        r"on MultiWOZ 2\.1 \[4\], and experimental results show .* on MultiWOZ 2\.2 \[5\]\.", text
    )


def test_a_single_bias_was_plural_and_a_heading_lent_a_term_its_capitals() -> None:
    told = [
        ("Gender Bias", "We study Gender Bias in gender bias tests."),
        ("On gender bias", "We study trees for gender bias in speech."),
        ("Soups", "We cook soups."),
        ("Stews", "We cook stews."),
    ]
    texts = {label: source(label, *titled) for label, titled in enumerate(told, 1)}
    accounts = [read_account(text, None) for text in texts.values()]
    (first, *_) = shared_by(accounts[:2], accounts, "")
    assert (first.term, first.holders) == ("gender bias", (1, 2))
    assert not is_plural("gender bias")
    assert is_plural("knowledge graphs")
    assert not shared_by(accounts[:2], accounts, "Gender bias of speech")


def test_a_method_is_shared_by_those_that_say_they_work_with_it() -> None:
    does = (
        "We propose to cook soups with contrastive learning.",
        "We present stews cooked with contrastive learning.",
        "We cook.",
    )
    told = [
        read_account(source(at, f"Dish {at}", text), None) for at, text in enumerate((*does, "We eat."), 1)
    ]
    named = [replace(account, methods=("contrastive learning",)) for account in told]
    (shared,) = shared_by(named, named, "")
    assert (shared.term, shared.holders, shared.is_method) == ("contrastive learning", (1, 2), True)
    assert not shared_by(told, told, "")


def test_what_is_left_open_is_said_of_the_work_nearest_to_the_description(
    comparer: ExtractiveComparer,
) -> None:
    texts = papers()
    last = summarised(comparer, texts).split("\n\n")[-1]
    assert last.startswith("Left open by the work nearest to the description: ")
    silent = {label: text for label, text in texts.items() if label != 2}
    assert "Left open" not in summarised(comparer, silent)


def test_of_equals_the_oldest_is_chosen_and_that_is_said(comparer: ExtractiveComparer) -> None:
    now = step(comparer, papers(), (1,))
    offered = [candidate(number, "The graph parser learns from film captions [1].") for number in (2, 1, 3)]
    vote = comparer.vote(now, offered, 1, work())
    assert vote.choice == 1
    assert vote.analysis.endswith("; so do 2 others.")


def test_a_candidate_that_lost_a_reference_loses_ties(comparer: ExtractiveComparer) -> None:
    now = step(comparer, papers(), (1,))
    text = "The graph parser learns from film captions [1]."
    offered = [Candidate(1, None, text, lost=(2,)), Candidate(2, None, text)]
    assert comparer.vote(now, offered, 1, work()).choice == 2
