import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assistant.checking.citations import normalise_labels
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.generators.extractive.yes_or_no import LEADS
from assistant.questions.intent import read_question
from assistant.questions.vocabulary import stems
from assistant.ranking.candidates import Candidate
from assistant.ranking.defining import defines
from assistant.reading.standing_alone import is_back_matter, is_quotable, points_back
from assistant.reading.telling import in_third_person, plain, without_lead
from assistant.records import CallLog, Evidence, LabelledPaper, Rewrite
from corpus.demo import __file__ as demo_package
from corpus.records import Aspect, Author
from tests.assistant.checking.test_citations import make_paper
from tests.assistant.generators.found_evidence import found_for

EXAMPLES = json.loads(Path(demo_package).with_name("questions.json").read_text(encoding="utf-8"))["examples"]
ONE = (Author("Ann", "Lee"),)
TWO = (Author("Ann", "Lee"), Author("Bo", "Jones"))
THREE = (*TWO, Author("Cy", "Diaz"))
GROUP = (Author("", "Paper Trail contributors"),)


@pytest.fixture(params=EXAMPLES, ids=lambda example: example["question"][:40])
def turn(request, ask_demo):
    return ask_demo(request.param["question"], request.param["collection"])


def _without_side(answer):
    """Return the sentences of an answer without the one that says yes or no."""
    return [told for told in answer.sentences if told.claim not in LEADS.values()]


def test_examples_are_answered_in_two_to_eight_cited_sentences(turn):
    assert turn.answer.refusal is None
    assert 2 <= len(_without_side(turn.answer)) <= 8
    assert all(len(sentence.labels) == 1 for sentence in _without_side(turn.answer))
    assert not any(sentence.unknown_labels or sentence.needs_citation for sentence in turn.answer.sentences)


def test_every_sentence_stands_in_the_passage_it_cites(turn):
    passages = {passage.id: passage for paper in turn.evidence.papers for passage in paper.passages}
    for sentence in _without_side(turn.answer):
        (citation,) = sentence.citations
        assert citation.overlap >= 0.65
        if sentence.claim.startswith("“"):  # "This note compares" has its title in place of itself.
            continue
        # Apart from the connective at its beginning, the label and what it cites, it is the paper's own.
        said = plain(sentence.claim).rstrip(".").replace("(", "[").replace(")", "]")[1:]
        assert said in plain(passages[citation.passage_id].text).replace("(", "[").replace(")", "]")
        assert passages[citation.passage_id].sentence_text(citation.sentence) == citation.evidence


def test_no_two_sentences_say_nearly_the_same(turn, encoder):
    vectors = encoder.encode_passages([sentence.claim for sentence in turn.answer.sentences])
    likeness = vectors @ vectors.T - np.eye(len(vectors))
    assert likeness.max() < 0.92


def test_examples_are_answered_from_several_papers_where_these_have_something_to_say(ask_demo):
    cited = [
        len(ask_demo(example["question"], example["collection"]).answer.cited_labels) for example in EXAMPLES
    ]
    assert max(cited) >= 2


def test_another_systems_figure_is_no_answer(ask_demo):
    dpr = ask_demo("What batch size was used to train DPR?")
    assert "128" in dpr.answer.text
    assert ask_demo("What batch size was used to train BERTScore?").answer.refusal


def test_a_question_that_one_paper_answers_alone_gets_three_sentences(ask_demo):
    example = next(
        example for example in EXAMPLES if example["question"].startswith("How are citation recall")
    )
    turn = ask_demo(example["question"], example["collection"])
    assert turn.answer.cited_labels == (1,)
    assert len(turn.answer.sentences) >= 3


@pytest.mark.parametrize(
    ("sentence", "authors", "expected"),
    [
        ("We show that we win.", THREE, "Lee et al. show that they win."),
        ("We show that our model wins.", TWO, "Lee and Jones show that their model wins."),
        ("Our model wins, and we say so.", TWO, "Lee and Jones' model wins, and they say so."),
        ("Our model wins.", THREE, "Lee et al.'s model wins."),
        ("Here we show it ourselves.", THREE, "Here Lee et al. show it themselves."),
        ("We show it.", ONE, "The authors show it."),
        ("We show it.", GROUP, "The authors show it."),
        ("We show it.", (), "The authors show it."),
        ("The best model is ours.", THREE, "The best model is theirs."),
        ("Speakers in the US told us more.", THREE, "Speakers in the US told them more."),
        ("Weather and hours are no words of ours.", GROUP, "Weather and hours are no words of theirs."),
        ("WE SHOW IT.", THREE, "Lee et al. SHOW IT."),
        ("They show it.", THREE, "They show it."),
    ],
)
def test_we_becomes_the_authors(sentence, authors, expected):
    assert in_third_person(sentence, authors) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("However, ranks differ.", "Ranks differ."),
        ("In this paper, we rank.", "We rank."),
        ("In this paper we rank.", "We rank."),
        ("In this work, ranks differ.", "Ranks differ."),
        ("On the other hand, ranks differ.", "Ranks differ."),
        ("However ranks differ, they count.", "However ranks differ, they count."),
        ("First ranks differ.", "First ranks differ."),
        ("Correspondingly, ranks differ.", "Ranks differ."),
        ("Last year ranks differed.", "Last year ranks differed."),
    ],
)
def test_what_tied_a_sentence_to_the_one_before_is_taken_off(sentence, expected):
    assert without_lead(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "The scores of all the systems are given in Table 2.",
        "The scores of all the systems are given in Tables 2 and 3.",
        "As Figure 3 shows, the scores of all the systems fall.",
        "The scores of all systems fall with length (Fig. 4).",
        "The scores of all systems fall with length (Tab. 4).",
        "The scores of all systems follow from Eq. (2) as well.",
        "The scores of all systems are discussed in Section 5.",
        "The scores of all systems are discussed in §5 again.",
        "The scores of all systems are given in Appendix B.",
        "Each step of the whole procedure is given by Algorithm 1.",
        "The scores of all systems are at https://example.org.",
        "The remainder of this paper is about the scores of systems.",
        "The paper is organised as follows: scores come first then systems.",
        "Too short to stand alone.",
        "the end of a sentence that was cut at a page break.",
        "A heading without a full stop at its end is none",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15.",
        "Y J p(aj |aj−1) p fj fieaj (1) where φi = PJ j=1 δ(i, aj ) counts the visits of a state.",
    ],
)
def test_what_cannot_stand_alone_is_not_quoted(sentence):
    assert not is_quotable(sentence)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("2 Similarly, ranks differ.", "Ranks differ."),
        ("2 The ranks differ.", "The ranks differ."),
        ("12 European languages differ.", "12 European languages differ."),
    ],
)
def test_the_number_of_a_footnote_was_quoted_with_it(sentence, expected):
    assert plain(sentence) == expected


def test_a_plain_sentence_is_quoted():
    assert is_quotable("BM25 ranks documents by the frequency of their terms.")
    assert is_quotable("The table and the figure of speech are both old words.")
    assert is_quotable("The usual default values of BM25 are k1 = 1.2 and b = 0.75 in Lucene.")


def draft_of(encoder, query, *papers, kind="synthesis"):
    log = CallLog()
    rewrite = Rewrite(query, query, kind=kind)
    writing = ExtractiveGenerator(encoder).write_draft(found_for(rewrite, Evidence(papers), encoder), (), log)
    pieces = []
    while True:
        try:
            pieces.append(next(writing))
        except StopIteration as end:
            assert "".join(pieces) == end.value.text == log.calls[0].reply
            return end.value.text


def with_authors(paper, *authors):
    return LabelledPaper(paper.label, replace(paper.paper, authors=authors), paper.passages)


def test_a_papers_own_reference_numbers_are_not_our_labels(encoder):
    paper = make_paper(
        1, "Tree parsing beats chart parsing on all the tests [2], and it is simpler (PUID:2)."
    )
    text = draft_of(encoder, "tree parsing and chart parsing", paper, make_paper(2, "Whales sing loudly."))
    assert normalise_labels(text, {1, 2}).labels == (1,)
    assert "PUID:2" in text


def test_a_sentence_that_hardly_is_the_papers_own_in_the_third_person_is_left_out(encoder):
    names = (Author("A", "van der Berg-Lopez"), Author("B", "de la Cruz-Martinez"))
    paper = with_authors(
        make_paper(
            1, "We use our trees for our parsing. Trees make parsing faster than charts and rules do."
        ),
        *names,
    )
    text = draft_of(encoder, "trees for parsing", paper)
    assert "Cruz" not in text
    assert "Trees make parsing faster" in text


def test_the_only_answer_was_left_out_because_it_leans(encoder):
    text = "We aim at filling this gap and present REMAN, a corpus of sentences that name emotions."
    assert "present REMAN" in draft_of(encoder, "What is REMAN?", make_paper(1, text), kind="definition")


def test_nothing_near_gives_an_empty_draft(encoder):
    assert (
        draft_of(encoder, "tree parsing", make_paper(1, "Whales sing very loudly in the deep blue sea."))
        == ""
    )
    assert draft_of(encoder, "tree parsing") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We propose SPECTER, a new method to embed documents.", 1.0),
        ("In this paper we introduce a model for documents called SPECTER.", 1.0),
        ("We have developed SPECTER (a tool).", 1.0),
        ("We also present the SPECTER model that embeds documents.", 1.0),
        ("SPECTER embeds documents.", 1.0),
        ("We present SPECTER results in Table 3.", 0.0),
        ("We describe the data for SPECTER, which is large.", 0.0),
        ("We propose SPECTER-2, a new method to embed documents.", 0.0),
        ("We note that SPECTER requires a title.", 0.0),
        ("Approaches are joined in Scientific Paper Embeddings using Citations (SPEC).", 0.0),
        ("Documents are embedded by scientific paper citation transformers (SPECTER).", 1.0),
    ],
)
def test_a_sentence_that_introduces_a_thing_defines_it(text, expected):
    paper = make_paper(1, text)
    passage = replace(paper.passages[0], number=0)
    assert (
        defines(Candidate(paper, passage, 0, text, stems(text)), read_question("What is SPECTER?"))
        == expected
    )


@pytest.mark.parametrize(
    ("question", "definition"),
    [
        ("What is BM25?", "BM25 ranks "),
        ("what is ROUGE?", "ROUGE scores a "),
    ],
)
def test_a_question_for_a_definition_gets_the_definition(ask_demo, question, definition):
    assert definition in ask_demo(question).answer.text


@pytest.mark.parametrize(
    "question",
    [
        "How many parameters does GPT-4 have?",
        "What is the training cost of GPT-4 in dollars?",
        "Does ColBERT support Chinese?",
    ],
)
def test_a_named_thing_is_not_answered_from_other_things_sentences(ask_demo, question):
    assert ask_demo(question).answer.refusal is not None


@pytest.mark.parametrize(
    ("sentence", "is_answered"),
    [
        ("Quantization compresses the language model GPT-2 by a factor of 14.", True),
        ("In our tests, quantization compresses by a factor of 14 the language model GPT-2.", True),
        (
            "Quantization compresses the small model by a factor of 14, which is more than GPT-2 allows.",
            False,
        ),
    ],
)
def test_a_number_before_the_name_it_belongs_to_was_no_answer(encoder, sentence, is_answered):
    paper = make_paper(1, sentence)
    assert bool(draft_of(encoder, "How much does quantization compress GPT-2?", paper)) == is_answered


def test_a_number_that_the_corpus_holds_is_answered(ask_demo):
    assert "Parameters 355 M" in ask_demo("How many parameters does AlignScore have?").answer.text


def test_a_sentence_that_would_fall_apart_is_not_quoted():
    assert not is_quotable("It is a part of the drug discovery process. [...] One approach used networks.")


CHALLENGE = "Parsing long sentences with charts takes far too much time and memory."
APPROACH = "A parser that grows its trees from the left reads each word only once."
OUTCOME = "On two treebanks it is nine times as fast and loses no accuracy at all."
OTHER = "The trees of both treebanks were drawn by three trained annotators in 2019."


def test_a_summary_says_challenge_approach_and_outcome_and_then_what_else_matters(encoder):
    made = make_paper(2, f"{OUTCOME} {OTHER} {CHALLENGE} {APPROACH}")
    texts = {"outcome": 0, "challenge": 2, "approach": 3}
    aspects = tuple(Aspect(name, "", 0, sentence) for name, sentence in texts.items())
    paper = replace(made, paper=replace(made.paper, title="Parsing from the Left", aspects=aspects))
    query = "What is “Parsing from the Left” about?"
    text = draft_of(encoder, query, make_paper(1, "Whales sing in the deep blue sea."), paper, kind="summary")
    order = [text.index(said[:30]) for said in (CHALLENGE, APPROACH, OUTCOME)]
    assert order == sorted(order)
    assert normalise_labels(text, {1, 2}).labels == (2,)
    assert OTHER[:30] not in text or text.index(OTHER[:30]) > order[-1]


def test_a_fact_is_told_first_and_in_three_sentences_at_most(encoder, ask_demo):
    text = draft_of(
        encoder,
        "How many annotators drew the trees?",
        make_paper(1, f"{CHALLENGE} {APPROACH} {OTHER} {OUTCOME}"),
        kind="fact",
    )
    assert text.startswith(OTHER[:30])
    for question, kind in (
        ("What is BM25?", "definition"),
        ("How many parameters does MiniCheck have?", "fact"),
    ):
        turn = ask_demo(question)
        assert (turn.rewrite.kind, len(turn.answer.sentences) <= 3) == (kind, True)


def test_a_near_miss_is_no_answer_to_a_question_of_a_number_or_a_person(encoder):
    paper = make_paper(1, f"{CHALLENGE} Annotators drew the trees of the treebanks by hand for this parser.")
    assert draft_of(encoder, "How many annotators drew the trees?", paper, kind="fact") == ""
    assert draft_of(encoder, "Who drew the trees of the treebanks?", paper, kind="fact") == ""


def test_an_answer_opened_with_a_sentence_that_points_back(ask_demo):
    answer = ask_demo("When is rank fusion worth it?").answer
    assert answer.sentences
    assert "that merging step" not in answer.text


@pytest.mark.parametrize(
    ("sentence", "leans"),
    [
        ("Rank fusion is the name for that merging step.", True),
        ("Judges also prefer long answers.", True),
        ("This note describes how judges fail.", True),
        ("The results of this paper show that judges agree with people.", False),
        ("BM25 ranks documents by the words that they share with the query.", False),
    ],
)
def test_sentences_that_lean_on_the_one_before_were_not_noticed(sentence, leans):
    assert points_back(sentence) == leans


@pytest.mark.parametrize(
    ("title", "left_out"), [("Acknowledgments", True), ("7 References", True), ("Reference Models", False)]
)
def test_acknowledgements_were_quoted(title, left_out):
    assert is_back_matter(title) == left_out
