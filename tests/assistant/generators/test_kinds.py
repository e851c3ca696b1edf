"""Lists, comparisons, definitions and questions of one paper, answered without a model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.generators.extractive.choosing import choose, limits_of
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.generators.extractive.yes_or_no import LEADS, take_side
from assistant.ranking.candidates import quotable_sentences
from assistant.ranking.gate import cannot_answer
from assistant.ranking.rank import Ranked
from assistant.records import CallLog, Evidence, LabelledPaper, RequestKind, Rewrite
from corpus.encoders.pairs import PairNetwork
from corpus.records import Aspect, Author, Section
from tests.assistant.checking.test_citations import make_paper
from tests.assistant.generators.found_evidence import found_for

APPROACH = "We propose a parser that reads a sentence from left to right and builds its tree at once."
LIMIT = "A drawback of our parser is that it cannot undo what it has built."
PLAN = "In future work we plan to let it look further ahead before it builds."
OTHERS = "Whales sing in the deep blue sea, and nobody has parsed their songs so far."


def written(encoder, query: str, *papers: LabelledPaper, kind: RequestKind) -> str:
    generator = ExtractiveGenerator(encoder)
    rewrite = Rewrite(query, query, kind=kind)
    pieces = generator.write_draft(found_for(rewrite, Evidence(papers), encoder), (), CallLog())
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return end.value.text


def parser_paper() -> LabelledPaper:
    made = make_paper(1, APPROACH, f"It is fast. {LIMIT}", PLAN)
    titles = ("Abstract", "Discussion", "Conclusion")
    passages = tuple(
        replace(passage, section=(Section(str(at), title),), kind="abstract" if at == 0 else "body")
        for at, (passage, title) in enumerate(zip(made.passages, titles, strict=True))
    )
    title, aspects = "LeftParse: Parsing at Once", (Aspect("approach", "", 0, 0),)
    return LabelledPaper(1, replace(made.paper, title=title, aspects=aspects, full_text=True), passages)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How does it work?", "reads a sentence from left to right"),
        ("What are its limitations?", "cannot undo what it has built"),
        ("What future work is planned?", "look further ahead"),
    ],
)
def test_a_part_of_a_paper_is_told_by_what_the_paper_says_of_it(encoder, question, said):
    text = written(encoder, question, parser_paper(), kind="summary")
    assert said in text.split("[1]")[0]


def test_what_a_paper_does_not_state_is_said_to_be_not_stated(encoder):
    text = written(encoder, "What learning rate was used?", parser_paper(), kind="summary")
    assert text == "NO ANSWER: The paper states no learning rate."
    text = written(encoder, "Which corpora are used?", parser_paper(), kind="summary")
    assert text == "NO ANSWER: The paper states no data."
    known = parser_paper()
    alone = LabelledPaper(1, replace(known.paper, full_text=False), known.passages[:1])
    text = written(encoder, "What are the limitations?", alone, kind="summary")
    assert (
        text == "NO ANSWER: Its abstract, which is all that is indexed of the paper, states no limitations."
    )


def test_a_paper_is_known_by_its_name_among_others(encoder):
    papers = (parser_paper(), make_paper(2, OTHERS))
    text = written(encoder, "What are the limitations of LeftParse?", *papers, kind="summary")
    assert "cannot undo" in text and "[2]" not in text


def test_the_papers_of_an_author_are_listed_whatever_they_are_about(encoder):
    papers = (parser_paper(), make_paper(2, OTHERS))
    wrote = replace(papers[0].paper, authors=(Author("Ada", "Lovelace"), Author("Grace", "Hopper")))
    papers = (replace(papers[0], paper=wrote), papers[1])
    for question in ("papers by Ada Lovelace", "What has Ada Lovelace published?"):
        rewrite = Rewrite(question, question, kind="list")
        assert cannot_answer(found_for(rewrite, Evidence(papers), encoder)) is None
        assert "builds its tree at once" in written(encoder, question, *papers, kind="list")
    other = Rewrite("papers by Ada Byron", "papers by Ada Byron", kind="list")
    assert cannot_answer(found_for(other, Evidence(papers), encoder)) == "nothing_relevant"


def test_a_list_has_the_titles_of_the_papers_about_it_and_no_others(encoder):
    papers = (parser_paper(), make_paper(2, OTHERS), make_paper(3, "We parse sentences with a chart parser."))
    lines = written(encoder, "Which papers propose a parser?", *papers, kind="list").split("\n")
    assert lines[0].startswith("- “LeftParse: Parsing at Once”: ") and lines[0].endswith("[1].")
    assert all("[2]" not in line for line in lines)


def test_the_title_of_a_listed_paper_is_no_claim(ask_demo):
    turn = ask_demo("Which papers compare BM25 with dense retrieval?")
    assert turn.rewrite.kind == "list"
    assert all(
        "”: " not in sentence.claim and sentence.citations[0].overlap > 0.6
        for sentence in turn.answer.sentences
    )


def test_both_sides_of_a_comparison_are_told(ask_demo):
    turn = ask_demo("How does BERTScore differ from MoverScore?")
    assert turn.rewrite.kind == "comparison"
    for side in ("BERTScore", "MoverScore"):
        assert any(side in sentence.claim for sentence in turn.answer.sentences)
    refused = ask_demo("How does BERTScore differ from XQZScore?").answer.refusal
    assert refused is not None and refused.reason == "not_about"
    assert "XQZScore" in refused.message


def test_a_side_that_no_paper_mentions_was_left_out_in_silence(ask_demo):
    text = ask_demo("What is the difference between rank fusion and bookbinding?").answer.text
    assert text.endswith("The papers found do not mention “bookbinding”.")
    assert "[1]" in text


def test_two_names_are_told_apart_where_nothing_particular_is_asked(ask_demo):
    turn = ask_demo("BM25 vs ColBERT?")
    claims = " ".join(sentence.claim for sentence in turn.answer.sentences)
    assert "BM25 ranks documents by" in claims
    assert "ColBERT" in claims


@pytest.mark.parametrize(
    ("question", "sentence", "side"),
    [
        ("Does LeftParse need a grammar?", "LeftParse does not need any grammar of the language.", "no"),
        ("Does LeftParse need a grammar?", "LeftParse needs a grammar of each language it parses.", "yes"),
        ("Does LeftParse need a grammar?", "However, LeftParse reads a grammar only for rare words.", "open"),
        ("Is a grammar enough for LeftParse?", "LeftParse reads a grammar of the language.", "open"),
        ("Can't LeftParse undo what it built?", "LeftParse cannot undo what it has built.", "open"),
        ("Can LeftParse undo what it built?", "LeftParse can't undo what it has built.", "no"),
        ("Are larger parsers more robust?", "The largest parsers were generally the least robust.", "open"),
        ("Are larger parsers more robust?", "Larger parsers are more robust to spelling.", "yes"),
        ("Does LeftParse need a grammar?", "LeftParse is independent of any grammar.", "open"),
        ("Does a grammar help LeftParse?", "We measure the help of a grammar to LeftParse.", "open"),
        ("Does a grammar help LeftParse?", "We measure and find that a grammar helps LeftParse.", "yes"),
    ],
)
def test_a_sentence_takes_a_side_by_its_denials(question, sentence, side):
    assert take_side(question, sentence) == side


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_have_a_side(question, sentence):
    assert take_side(question, sentence) in LEADS


def test_a_yes_or_no_question_is_answered_with_a_side_first(ask_demo):
    answer = ask_demo("Is BM25 better than dense retrieval out of domain?").answer
    side, *told = answer.sentences
    assert side.claim in LEADS.values() and not side.citations and not side.needs_citation
    assert told and all(sentence.citations for sentence in told)
    assert answer.citation_recall == 1.0
    assert not any(
        sentence.claim in LEADS.values() for sentence in ask_demo("What is BM25?").answer.sentences
    )


def test_no_side_is_taken_from_a_sentence_on_something_else(ask_demo):
    side, *_ = ask_demo("Is BLEU a good metric for machine translation?").answer.sentences
    assert side.claim == LEADS["open"]


def test_an_overview_names_at_least_three_papers(ask_demo):
    answer = ask_demo("What is known about dense retrieval?").answer
    assert len(answer.cited_labels) >= 3
    lines = answer.text.splitlines()
    assert len(lines) == len(answer.cited_labels)
    assert all(line.startswith("- “") for line in lines), "each paper's line begins with its title"


def test_what_goes_on_beside_the_likeliest_sentence_is_told_in_a_row():
    steps = (
        "The parser first cuts a sentence into words and marks.",
        "The parser then joins neighbouring words to phrases of the sentence.",
        "The phrases are joined to one tree of the whole sentence.",
    )
    paper = make_paper(1, " ".join(steps), OTHERS)
    candidates = quotable_sentences(Evidence((paper,)))
    assert [sentence.text for sentence in candidates] == [*steps, OTHERS]

    def chosen(*chance: float) -> list[str]:
        ranked = Ranked(candidates, np.asarray(chance, np.float32), np.eye(4, dtype=np.float32), 1.0)
        return [sentence.text for sentence in choose(ranked, limits_of("how"))]

    assert chosen(0.3, 0.6, 0.25, 0.3) == list(steps), "in reading order, without the other passage's"
    assert chosen(0.1, 0.6, 0.1, 0.1) == [steps[1]], "one sentence where one is enough"
    assert chosen(0.1, 0.6, 0.1, 0.5) == [steps[1], OTHERS]


def test_a_definition_needs_its_words_in_one_sentence(ask_demo):
    assert ask_demo("What is citation precision?").answer.refusal is None
    assert ask_demo("What is citation whale?").answer.refusal is not None


@pytest.mark.parametrize(
    ("query", "kind", "refused"),
    [
        ("How does the parser build its tree?", "synthesis", False),
        ("How do whales sing?", "synthesis", True),
        ("What are its limitations?", "summary", False),
        ("How is a bicycle mended?", "summary", False),
    ],
)
def test_what_nothing_found_answers_is_refused_before_anything_is_written(encoder, query, kind, refused):
    rewrite = Rewrite(query, query, kind=kind)
    reason = cannot_answer(found_for(rewrite, Evidence((parser_paper(),)), encoder))
    assert reason == ("nothing_relevant" if refused else None)


@pytest.mark.parametrize(
    ("query", "refused", "read"),
    [("How does the parser build its tree?", False, [6]), ("How is a bicycle mended?", True, [6, 31])],
)
def test_before_a_model_writes_no_more_is_read_than_shows_that_something_answers(
    encoder, monkeypatch, query, refused, read
):
    counts = []

    def counted(network, pairs):
        counts.append(len(pairs))
        return numbers(network, pairs)

    numbers = PairNetwork.read
    monkeypatch.setattr(PairNetwork, "read", counted)
    aside = [
        f"In the year {year} whales sang {year % 7} songs of the deep sea." for year in range(1990, 2018)
    ]
    paper = parser_paper()
    papers = (paper, make_paper(2, *aside))
    reason = cannot_answer(
        found_for(Rewrite(query, query, kind="how"), Evidence(papers), encoder), by_model=True
    )
    assert reason == ("nothing_relevant" if refused else None)
    assert counts == read


def test_nothing_is_searched_in_nothing(encoder):
    assert cannot_answer(found_for(Rewrite("Why?", "Why?"), Evidence(()), encoder)) == "empty_corpus"


def test_a_perspective_leaves_out_what_is_seen_from_elsewhere(encoder):
    speed = "Our parser needs 2 milliseconds for a sentence and hardly any memory."
    made = parser_paper()
    papers = (replace(made, passages=(*made.passages, make_paper(1, *("x",) * 3, speed).passages[3])),)
    text = written(encoder, "Summarise LeftParse from an efficiency perspective", *papers, kind="summary")
    assert "2 milliseconds" in text and "cannot undo" not in text


def test_relevance_is_measured_and_higher_for_what_answers(ask_demo):
    answer = ask_demo("What is BM25?").answer
    assert answer.relevance is not None and 0 <= answer.relevance <= 1
