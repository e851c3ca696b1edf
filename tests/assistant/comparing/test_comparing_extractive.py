"""Key elements found without a model: the right sentence for each question, and nothing for the others."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.checking.citations import normalise_labels
from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.records import ELEMENT_NAMES, ComparisonOptions
from assistant.reading.standing_alone import can_stand_alone, has_no_antecedent, leans, points_away
from assistant.reading.telling import plain, told
from corpus.encoders.base import Encoder
from corpus.records import Author
from tests.assistant.comparing.comparing_texts import AUTHORS, description, source, task

ABSTRACT = (
    "Parsers of spoken language still suffer from the lack of training data. "
    "This paper investigates whether a parser can learn from captions alone. "
    "We propose CapParse, a parser that is trained on film captions. "
    "Experiments show that it reaches an accuracy of 91.2% and outperforms the best previous system."
)
SECTIONS = (
    (
        "Introduction",
        "Speech is everywhere in daily life. "
        "To the best of our knowledge, this is the first parser that is trained on captions only.",
    ),
    (
        "Related work",
        "Jones (2009) proposed a parser that outperforms all others by 5 points. "
        "Previous work cannot handle captions and leaves them for future work.",
    ),
    (
        "Method",
        "Our parser uses a graph of words and computes the best tree by dynamic programming. "
        "The weights are shown in Table 3.",
    ),
    (
        "Conclusion",
        "We have shown that captions are a useful source of training data for parsers. "
        "In future work, we plan to extend the parser to languages other than English.",
    ),
    ("Acknowledgements", "We propose to thank the many people who have shown us that parsers are useful."),
)


@pytest.fixture(scope="module")
def comparer(encoder: Encoder) -> ExtractiveComparer:
    return ExtractiveComparer(encoder)


def test_every_question_is_answered_by_the_sentence_that_states_it(comparer: ExtractiveComparer) -> None:
    text = source(1, "Parsing speech with captions", ABSTRACT, SECTIONS)
    found = comparer.extract_key_elements(text, task())
    assert found == {
        "research_questions": ("Smith and Doe investigate whether a parser can learn from captions alone."),
        "methodology": (
            "Smith and Doe's parser uses a graph of words and computes the best tree by dynamic programming."
        ),
        "results": (
            "Experiments show that it reaches an accuracy of 91.2% and outperforms the best previous system."
        ),
        "conclusions": (
            "Smith and Doe have shown that captions are a useful source of training data for parsers."
        ),
        "contributions": "Smith and Doe propose CapParse, a parser that is trained on film captions.",
        "innovations": (
            "To the best of their knowledge, this is the first parser that is trained on captions only."
        ),
        "limitations": (
            "In future work, Smith and Doe plan to extend the parser to languages other than English."
        ),
    }


@pytest.mark.parametrize(
    "text",
    [
        "Cooking is an old art. Many people like soup in winter. The moon was full on that night.",
        "Short.",
        "See Table 3. As shown in Figure 2, the curve rises quickly. It does.",
    ],
)
def test_what_is_not_stated_is_left_out(comparer: ExtractiveComparer, text: str) -> None:
    assert comparer.extract_key_elements(source(1, "Soup", text), task()) == {}


def test_a_paper_known_by_its_title_states_nothing(comparer: ExtractiveComparer) -> None:
    title = "We propose a novel method that outperforms all others"
    assert comparer.extract_key_elements(source(1, title, ""), task()) == {}


def test_others_work_and_back_matter_are_not_taken_for_the_papers_own(comparer: ExtractiveComparer) -> None:
    found = comparer.extract_key_elements(source(1, "Captions", ABSTRACT, SECTIONS), task())
    said = " ".join(found.values())
    assert "Jones" not in said
    assert "Previous work" not in said
    assert "thank" not in said


def test_no_sentence_answers_more_than_two_questions(comparer: ExtractiveComparer) -> None:
    comparison = (
        "We propose a novel parser by combining trees to address speech, "
        "show that it outperforms others, and find that it is useful."
    )
    found = comparer.extract_key_elements(source(1, "Parsing", comparison), task())
    assert 1 <= len(found) <= 2


@pytest.mark.parametrize(
    ("abstract", "expected"),
    [
        (
            "We propose SkipParse to accelerate parsing by skipping the computation of shallow layers. "
            "Results on films show that our parser can reduce latency by 65%.",
            {
                "contributions": "Smith and Doe propose SkipParse to accelerate parsing by skipping the "
                "computation of shallow layers.",
                "methodology": "Smith and Doe propose SkipParse to accelerate parsing by skipping the "
                "computation of shallow layers.",
                "results": "Results on films show that Smith and Doe's parser can reduce latency by 65%.",
            },
        ),
        (
            "However, guided parsing of film captions is slow at run time. "
            "In this work, we propose a parser of film captions.",
            {
                "research_questions": "Guided parsing of film captions is slow at run time.",
                "contributions": "Smith and Doe propose a parser of film captions.",
            },
        ),
        (
            "Retrieval gives a parser passages to read before it parses a caption. "
            "This note compares five parsers by when they retrieve captions, and what is trained.",
            {
                "contributions": "Smith and Doe compare five parsers by when they retrieve captions, "
                "and what is trained.",
                "methodology": "Smith and Doe compare five parsers by when they retrieve captions, "
                "and what is trained.",
            },
        ),
    ],
    ids=["a method in what is proposed", "a problem behind however", "a note that compares"],
)
def test_abstracts_were_said_not_to_state_what_one_sentence_answers_twice(
    comparer: ExtractiveComparer, abstract: str, expected: dict[str, str]
) -> None:
    found = comparer.extract_key_elements(source(1, "Parsing film captions", abstract), task())
    assert {name: text for name, text in found.items() if name in expected} == expected


@pytest.mark.parametrize(
    "abstract",
    [
        "We point out that existing learning-to-parse methods suffer from an unstable loss. "
        "We propose a stable parser with two stages.",
        "We propose a stable parser with two stages. "
        "Write captions that can be parsed alone, because a caption in pieces cannot be parsed.",
    ],
    ids=["the problem of others", "advice"],
)
def test_what_limits_others_was_taken_for_a_papers_own_limit(
    comparer: ExtractiveComparer, abstract: str
) -> None:
    found = comparer.extract_key_elements(source(1, "Stable parsing", abstract), task())
    assert "limitations" not in found


@pytest.mark.parametrize(
    ("text", "away"),
    [
        ("Smith and Doe relate these different sets of labels to trees.", True),
        ("The decoder of the parser is based on it.", True),
        ("In Smith and Doe's experiments, this simple approach reduces the cost.", True),
        ("The activation of such neurons is correlated with facts.", True),
        ("Smith and Doe describe four of them.", True),
        ("Smith and Doe propose ways of measuring both.", True),
        ("Smith and Doe propose a new approach and show that this approach reduces the cost.", False),
        ("Through Smith and Doe's analysis, they show that trees matter.", False),
        ("Smith and Doe use tasks such as parsing.", False),
        ("The scores are higher than those of the best parser.", False),
    ],
)
def test_references_within_a_sentence_dangled(text: str, away: bool) -> None:
    assert points_away(text) is away


@pytest.mark.parametrize(
    ("text", "dangles"),
    [
        ("Experiments show that it reaches an accuracy of 91 per cent.", True),
        ("The results on their data are better.", True),
        ("Smith and Doe use trees, and they prune them.", False),
        ("Experiments show that CapParse is faster than its predecessor.", False),
    ],
)
def test_a_pronoun_stood_before_anything_was_named(text: str, dangles: bool) -> None:
    assert has_no_antecedent(text) is dangles


def test_a_paper_without_named_authors_is_told_by_its_title() -> None:
    team = (Author("", "Film team"),)
    written = "This note compares parsers of film captions."
    assert (
        told(written, team, "Reading films: parsers") == "“Reading films” compares parsers of film captions."
    )
    assert told(written, team, "Why films? On parsers").startswith("“Why films?” compares")
    assert told(written, team) == "The note compares parsers of film captions."


@pytest.mark.parametrize(
    ("text", "leaning"),
    [
        ("In the first training stage, Smith and Doe learn a strategy.", True),
        ("In a first experiment, Smith and Doe learn a strategy.", False),
        ("The first parser of captions is presented.", False),
    ],
)
def test_a_sentence_that_opens_with_a_stage_needs_the_one_before(text: str, leaning: bool) -> None:
    assert leans(text) is leaning


def test_a_description_speaks_in_its_own_words(comparer: ExtractiveComparer) -> None:
    text = "We investigate whether parsers can learn from captions. We will propose a parser for speech."
    found = comparer.extract_key_elements(description(text), task())
    assert found["research_questions"] == "We investigate whether parsers can learn from captions."


@pytest.mark.parametrize("text", ["parsing", "", "\n\n", "?" * 300, "[1] [2] [3]"])
def test_a_description_that_says_little_states_nothing(comparer: ExtractiveComparer, text: str) -> None:
    assert comparer.extract_key_elements(description(text), task()) == {}


def test_sections_without_telling_headings_are_read_by_their_place(comparer: ExtractiveComparer) -> None:
    body = (
        ("1", "We address the problem of parsing captions of silent films."),
        ("2", "Our parser uses a graph of words and is trained on captions of films."),
    )
    found = comparer.extract_key_elements(source(1, "Silent films", "", body), task())
    assert found["research_questions"].startswith("Smith and Doe address the problem")
    assert found["methodology"].startswith("Smith and Doe's parser uses a graph")


def test_an_abstract_in_the_passive_is_the_papers_own(comparer: ExtractiveComparer) -> None:
    text = (
        "A method is presented for dividing films into scenes. "
        "The method achieves a precision of 0.80 on ten films."
    )
    found = comparer.extract_key_elements(source(1, "Dividing films into scenes", text), task())
    assert found["contributions"] == "A method is presented for dividing films into scenes."
    assert found["results"] == "The method achieves a precision of 0.80 on ten films."


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("However, we use trees (Smith, 1999) for speech [3].", "We use trees for speech."),
        ("In this paper, we then use trees.", "We use trees."),
        ("To address these issues, we use trees.", "We use trees."),
        ("To address the above limitations, we use trees.", "We use trees."),
        ("Following this idea, we use trees.", "We use trees."),
        ("In our work, we use the bench- mark of trees.", "We use the bench-mark of trees."),
        ("However the trees are large.", "The trees are large."),
        ("We use trees (see Section 3) to tackle these problems.", "We use trees."),
        ("For each pair of mentions3 we use trees.", "For each pair of mentions we use trees."),
        ("In summary, more specifically, trees are used.", "Trees are used."),
        ("BERT2 is better than word2vec (by far).", "BERT2 is better than word2vec (by far)."),
    ],
)
def test_sentences_lose_what_tied_them_to_their_place(written: str, read: str) -> None:
    assert plain(written) == read


@pytest.mark.parametrize(
    ("written", "authors", "read"),
    [
        ("This paper presents a parser.", AUTHORS, "Smith and Doe present a parser."),
        (
            "This paper describes and tests trees, and discusses uses of trees.",
            AUTHORS,
            "Smith and Doe describe and test trees, and discuss uses of trees.",
        ),
        ("This study focuses on speech.", AUTHORS, "Smith and Doe focus on speech."),
        ("This work studies speech.", AUTHORS, "Smith and Doe study speech."),
        (
            "I use trees, and my parser is fast.",
            AUTHORS[:1],
            "The authors use trees, and their parser is fast.",
        ),
        ("The proposed parser is fast.", AUTHORS, "Smith and Doe's proposed parser is fast."),
        ("Trees are used in this paper.", AUTHORS, "Trees are used."),
        (
            "We've used trees, and we'll use graphs.",
            AUTHORS,
            "Smith and Doe have used trees, and they will use graphs.",
        ),
        ("To our knowledge it is new.", AUTHORS, "To their knowledge it is new."),
        ("The errors of this paper are few.", AUTHORS, "The errors of the paper are few."),
        ("We cite [12] here.", AUTHORS, "Smith and Doe cite (12) here."),
        ("Type I errors are few.", AUTHORS, "Type I errors are few."),
    ],
)
def test_papers_are_told_in_the_third_person(written: str, authors: tuple[Author, ...], read: str) -> None:
    assert told(written, authors) == read


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("The parser learns from the captions of ten films.", True),
        ("The parser above learns from the captions of ten films.", False),
        ("Column 3 gives the accuracy of the parser on ten films.", False),
        ("Let us consider a parser of the captions of ten films.", False),
        ("Does the parser learn from the captions of ten films?", False),
        ("The parser solves f(a) = b for the captions of ten films.", False),
    ],
)
def test_a_sentence_that_points_elsewhere_cannot_stand_alone(text: str, stands: bool) -> None:
    assert can_stand_alone(text) is stands


@given(st.text(max_size=300))
def test_any_text_can_be_brought_to_its_form(text: str) -> None:
    bare = plain(text)
    spoken = told(bare, AUTHORS)
    assert normalise_labels(spoken, set(range(1000))).labels == ()
    assert can_stand_alone(bare) in (True, False)


def test_it_costs_nothing_and_says_what_its_elements_depend_on(comparer: ExtractiveComparer) -> None:
    budget = comparer.budget([], (), ComparisonOptions())
    assert (budget.calls, budget.most_calls, budget.price) == (0, 0, 0.0)
    assert comparer.elements_version == ExtractiveComparer(comparer._encoder).elements_version
    assert len(comparer.elements_version) == 12
    assert set(ELEMENT_NAMES) >= set(comparer.extract_key_elements(source(1, "A", ABSTRACT), task()))


def test_of_real_papers_most_say_what_they_do_and_what_came_of_it(
    comparer: ExtractiveComparer, shared: Path
) -> None:
    lines = (shared / "data" / "summaries" / "aclsum.jsonl").read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines[:6]:
        paper = json.loads(line)
        parts = {name: " ".join(sentences) for name, sentences in paper["source"].items()}
        sections = [(name.title(), text) for name, text in parts.items() if name != "abstract"]
        text = source(1, paper["title"], parts["abstract"], sections)
        found.append(comparer.extract_key_elements(text, task()))
    assert sum("contributions" in elements or "methodology" in elements for elements in found) >= 5
    assert sum("results" in elements for elements in found) >= 5
    assert all(max(Counter(elements.values()).values()) <= 2 for elements in found)
