import json
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.chat import Assistant
from assistant.checking.refusal import nothing_holds, refuse, with_coverage
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.records import (
    Answer,
    Answered,
    AnswerSentence,
    AskOptions,
    AssistantError,
    Citation,
    Retrieved,
    Rewritten,
)
from corpus.demo import __file__ as demo_package
from corpus.language.identified import foreign_language
from corpus.records import Author, Hit, PaperHits, Scope, Topic
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter
from tests import small_corpus
from tests.assistant.checking.test_citations import make_paper
from tests.shifted_encoder import ShiftedEncoder


def found(text: str, dense: float) -> tuple[PaperHits, ...]:
    labelled = make_paper(1, text)
    return (PaperHits(labelled.paper, (Hit(labelled.passages[0], 0.5, dense, 1.0),), 0.5),)


QUESTIONS = json.loads(Path(demo_package).with_name("questions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("question", QUESTIONS["unanswerable"])
def test_what_the_corpus_does_not_hold_is_refused_with_what_came_nearest(ask_demo, question):
    turn = ask_demo(question)
    refusal = turn.answer.refusal
    assert refusal is not None
    assert refusal.reason in ("nothing_relevant", "nothing_supported", "not_about")
    assert "these 16 papers" in refusal.message
    assert (turn.answer.text, turn.answer.sentences) == ("", ())
    assert len(refusal.nearest) == 3
    scores = [nearest.score for nearest in refusal.nearest]
    assert scores == sorted(scores, reverse=True)
    assert all(nearest.text and nearest.title for nearest in refusal.nearest)


@pytest.mark.parametrize(
    "question",
    [
        "Welche Methoden gibt es zur Zusammenfassung von Texten?",
        "Wie misst man die Treue von Zusammenfassungen?",
        "Quelles sont les méthodes pour évaluer les résumés ?",
        "Comment fonctionnent les modèles de diffusion ?",
        "稠密检索和稀疏检索有什么区别？",
        "Как работает поиск по документам?",
    ],
)
def test_a_question_in_another_language_is_told_to_ask_in_english(ask_demo, question):
    refusal = ask_demo(question).answer.refusal
    assert refusal is not None
    assert refusal.reason == "language"
    assert "English" in refusal.message


@pytest.mark.parametrize("example", QUESTIONS["examples"], ids=lambda example: example["question"][:30])
def test_examples_and_their_like_are_english(example):
    assert not foreign_language(example["question"])


@pytest.mark.parametrize(
    ("question", "foreign"),
    [
        ("BM25", False),
        ("ROUGE-L vs. BERTScore", False),
        ("Do German compounds such as 'Zusammenfassung' hurt BM25?", False),
        ("How are die Verben in the Universal Dependencies tagged?", False),
        ("μ and σ of the scores", False),
        ("¿Cómo se evalúan las citas?", True),
        ("Qu'est-ce que BM25 ?", True),
        ("BM25とは何ですか", True),
    ],
)
def test_only_what_is_surely_not_english_counts_as_foreign(question, foreign):
    assert bool(foreign_language(question)) == foreign


@pytest.mark.parametrize(
    "question",
    [
        "Von Mises distribution?",
        "De la Cruz corpus?",
        "El Niño forecasts",
        "van Rijsbergen measure",
        "Die Hard plot?",
    ],
)
def test_a_name_with_a_foreign_particle_is_not_another_language(question):
    assert not foreign_language(question)
    assert foreign_language(f"Was ist die {question}")


def test_a_refusal_says_what_the_corpus_covers(ask_demo, extractive_assistant, demo_corpus):
    covers = ask_demo(QUESTIONS["unanswerable"][0]).answer.refusal.covers
    assert covers[:2] == ("Field Notes on Evaluation", "Field Notes on Retrieval")
    assert covers[-1].startswith("Topics: ")
    assert (
        ask_demo(QUESTIONS["unanswerable"][0], "field-notes-retrieval").answer.refusal.covers[1:]
        != covers[1:]
    )
    paper = demo_corpus.papers()[0]
    options = AskOptions(Scope(papers=(paper.id,)))
    *_, answered = extractive_assistant.ask("How do graph neural networks predict toxicity?", (), options)
    assert answered.turn.answer.refusal.covers[0] == paper.title


@pytest.mark.parametrize(
    ("query", "text", "said"),
    [
        (
            "What is the batch size of Kettle?",
            "Kettle boils words.",
            "that names “Kettle” has the words “batch size”",
        ),
        ("Does Kettle use {dropout}?", "Teapots use dropout.", "has the word “Kettle”"),
        ("How is quantum annealing used?", "Words are boiled.", "has the words “quantum annealing”"),
        ("What score does the quantum parser reach?", "Words are boiled.", "has the words “quantum parser”"),
    ],
)
def test_a_refusal_says_what_stands_nowhere(query, text, said):
    refusal = refuse("nothing_relevant", found(text, 0.4), "1 {paper}", query=query).refusal
    assert refusal.reason == "not_about"
    assert f"No passage found in 1 {{paper}} {said}" in refusal.message


@pytest.mark.parametrize(
    ("query", "is_told"),
    [
        ("Who are the authors of BERTScore?", True),
        ("When was BERTScore published?", True),
        ("At which conference was “BERTScore” presented?", True),
        ("Who wrote the paper on text by vectors with BERTScore?", True),
        ("Who are the authors of COMET?", False),
        ("How did the authors of BERTScore weigh words?", False),
        ("How many layers does BERTScore have?", False),
    ],
)
def test_what_only_the_record_of_a_paper_has_is_told_with_the_refusal(query, is_told):
    (hits,) = found("We compare words by their vectors.", 0.6)
    authors = (Author("Tianyi", "Zhang"), Author("Varsha", "Kishore"))
    paper = replace(hits.paper, title="BERTScore: Text by Vectors", authors=authors, venue="ICLR", year=2020)
    refusal = refuse("nothing_relevant", (replace(hits, paper=paper),), "these 5 papers", query=query).refusal
    record = "“BERTScore: Text by Vectors” is by Tianyi Zhang, Varsha Kishore, ICLR, 2020."
    assert refusal and (record in refusal.message) == is_told


def test_a_refusal_that_misses_no_word_names_none():
    refusal = refuse(
        "nothing_relevant", found("Kettles boil.", 0.4), "1 paper", query="Do kettles boil?"
    ).refusal
    assert (refusal.reason, "has the word" in refusal.message) == ("nothing_relevant", False)


def test_a_caption_is_not_shown_as_what_came_nearest():
    (text,), (caption,) = found("Kettles boil.", 0.4), found("Figure 1: A kettle.", 0.6)
    hit = replace(caption.hits[0], passage=replace(caption.hits[0].passage, kind="caption", number=7))
    both = replace(text, hits=(hit, *text.hits))
    nearest = refuse("nothing_relevant", (both,), "1 paper").refusal.nearest
    assert [passage.text for passage in nearest] == ["Kettles boil."]


def test_a_topic_that_a_field_and_a_method_name_was_said_twice(tmp_path, encoder):
    topics = (
        Topic("field", "Language models", 0.9),
        Topic("method", "language models", 0.8),
        Topic("task", "language-model", 0.7),
        Topic("metric", "ROUGE-L", 0.6),
    )
    paper = replace(small_corpus.make_paper("notes", "models"), topics=topics)
    small_corpus.write_corpus(tmp_path, encoder, {paper: ["Language models predict words."]})
    corpus = Corpus.open(tmp_path, encoder)
    answer = with_coverage(refuse("nothing_relevant", (), "1 paper"), corpus, Scope())
    said = answer.refusal.covers[-1].removeprefix("Topics: ").lower().split(", ")
    assert len(said) == 2
    assert {line.rstrip("s").replace("-", " ") for line in said} == {"language model", "rouge l"}


@pytest.mark.parametrize(
    ("supports", "recall", "holds_nothing"),
    [
        ((0.05, 0.1), 0.0, True),
        ((0.05, 0.9), 0.5, False),
        ((0.05, 0.3), 0.0, False),
        ((None, None), None, False),
        ((0.05, None), None, False),
        ((), None, False),
    ],
)
def test_an_answer_of_which_nothing_holds_is_told(supports, recall, holds_nothing):
    cited = (Citation(1, "x", "c/p#0", 0, "x", 1.0),)
    sentences = tuple(AnswerSentence(0, 1, "x", (1,), cited, support=support) for support in supports)
    assert nothing_holds(Answer("x", sentences, citation_recall=recall)) == holds_nothing


def test_an_empty_corpus_says_so(tmp_path, encoder):
    path = Settings(home=tmp_path).corpus_path
    CorpusWriter(path, encoder).publish()
    assistant = Assistant(Corpus.open(path, encoder), encoder, ExtractiveGenerator(encoder))
    events = list(assistant.ask("What is BM25?", (), AskOptions()))
    assert [type(event) for event in events] == [Rewritten, Retrieved, Answered]
    refusal = events[-1].turn.answer.refusal
    assert (refusal.reason, refusal.nearest) == ("empty_corpus", ())
    assert "index a collection" in refusal.message


def test_a_scope_that_nothing_falls_into_says_so(extractive_assistant):
    options = AskOptions(Scope(years=(1890, 1891)))
    *_, answered = extractive_assistant.ask("What is BM25?", (), options)
    assert answered.turn.answer.refusal.reason == "empty_corpus"
    assert "Widen the scope" in answered.turn.answer.refusal.message
    assert "0 papers" in answered.turn.answer.refusal.message


def test_one_paper_is_named_as_one(extractive_assistant, demo_corpus):
    paper = demo_corpus.papers()[0]
    options = AskOptions(Scope(papers=(paper.id,)))
    *_, answered = extractive_assistant.ask("How do graph neural networks predict toxicity?", (), options)
    assert "this paper" in answered.turn.answer.refusal.message
    assert {nearest.paper_id for nearest in answered.turn.answer.refusal.nearest} == {paper.id}


@pytest.mark.parametrize(
    "question",
    [
        "What is $k_1$ in **BM25** and how is it set?",
        "what about ColBERTv2's cost?",
        "back to ColBERT: how large is its index?",
    ],
)
def test_questions_that_the_nearest_passages_answer_were_refused(ask_demo, question):
    assert ask_demo(question).answer.refusal is None


def test_a_percentage_was_answered_with_a_count_of_bytes(ask_demo):
    answer = ask_demo("What percentage of accuracy is lost by quantizing vectors to 8 bits?").answer
    assert answer.refusal is not None or "%" in answer.text or "per cent" in answer.text


@pytest.mark.parametrize("question", ["thanks", "OK, thank you!", "hello there", "[2]?", "and [12]?"])
def test_what_asks_nothing_was_answered_with_random_sentences(ask_demo, question):
    with pytest.raises(AssistantError, match=r"asks nothing of the papers|no answer yet that"):
        ask_demo(question)


NOTES = {
    "ranking": ["BM25 ranks documents by the words they share with a query.", "It needs no training data."],
    "dense": [
        "Dense retrieval compares vectors of queries and passages.",
        "Hard negatives help to train it.",
    ],
    "metrics": [
        "ROUGE counts the words that a summary shares with a reference.",
        "BERTScore compares vectors.",
    ],
    "parsing": ["A parser finds the syntactic structure of a sentence.", "Treebanks train parsers."],
}
ASKED = (
    "How does BM25 rank documents?",
    "What do dense retrievers compare?",
    "Which metric counts words that a summary shares with its reference?",
    "How do whales sing in the deep sea?",
    "Which colour has the largest protein molecule?",
)


def test_another_encoder_was_held_to_the_bundled_ones_cosines(tmp_path, encoder):
    papers = {small_corpus.make_paper("notes", key): texts for key, texts in NOTES.items()}
    said = []
    for number, current in enumerate((encoder, ShiftedEncoder(encoder, 0.6))):
        small_corpus.write_corpus(tmp_path / str(number), current, papers)
        assistant = Assistant(
            Corpus.open(tmp_path / str(number), current), current, ExtractiveGenerator(current)
        )
        for question in ASKED:
            *_, last = assistant.ask(question, (), AskOptions())
            said.append(last.turn.answer)
    ours, theirs = said[: len(ASKED)], said[len(ASKED) :]
    assert [answer.text for answer in ours] == [answer.text for answer in theirs]
    assert [answer.refusal is None for answer in ours] == [True, True, True, False, False]
    assert [answer.refusal is None for answer in theirs] == [True, True, True, False, False]
    support = [
        [sentence.support for answer in answers for sentence in answer.sentences]
        for answers in (ours, theirs)
    ]
    assert support[0] == pytest.approx(support[1], abs=0.02)
