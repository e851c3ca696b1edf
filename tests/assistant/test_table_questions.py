"""Questions about figures in tables, asked of real papers: the answer is the row that holds them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.chat import Assistant
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.reading.cells import asked_cells
from assistant.records import Answered, AskOptions, Turn
from corpus.encoders.base import Encoder
from corpus.records import Collection, Passage, Sentence, Table
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from corpus.tables import row_texts
from indexer.build.run import build_collection
from indexer.sources.folder import PDF_SUFFIXES, Folder

PAPERS = Path(__file__).parents[2].parent / "shared" / "data" / "acl_pdfs"
READ = ("A97-1028", "I08-4009", "P05-1053", "P06-1141", "W09-1007", "W10-1012")
# Each with what the row of the printed table says.
ASKED = {
    "How many NE phrases does the Spanish corpus have?": ("Spanish", "3579"),
    "What is the vocabulary transfer of Loc for English?": ("English", "42.7%"),
    "What F1 does the baseline CRF reach on LOC?": ("Baseline CRF", "88.09"),
    "What relative error reduction does Non Local+Gibbs bring?": ("Non Local+Gibbs", "9.3%"),
    "What accuracy does Weighted linear reach on random?": ("Weighted linear", "88.42"),
    "What is the OOV rate of the MSRA corpus?": ("MSRA", "0.026"),
    "What is the OOV recall of CT on CityU?": ("CityU", "0.736"),
    "What F-measure does adding chunking features reach?": ("+Chunking", "53.0"),
    "What recall is reached when Parse Tree features are added?": ("+Parse Tree", "47.6"),
    "What percentage of the messages in the test set is QUES?": ("QUES", "50.87%"),
}
LEAST_RIGHT = 8


@pytest.fixture(scope="module")
def ask_papers(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Callable[[str], Turn]:
    folder = tmp_path_factory.mktemp("papers")
    for stem in READ:
        shutil.copyfile(PAPERS / f"{stem}.pdf", folder / f"{stem}.pdf")
    settings = Settings(home=tmp_path_factory.mktemp("home"))
    source = Folder(folder, Collection("papers", "Papers"), PDF_SUFFIXES)
    build_collection(settings, encoder, source, lambda _: None)
    assistant = Assistant(Corpus.open(settings.corpus_path, encoder), encoder, ExtractiveGenerator(encoder))

    def ask(question: str) -> Turn:
        *_, last = assistant.ask(question, (), AskOptions())
        assert isinstance(last, Answered)
        return last.turn

    return ask


@pytest.mark.skipif(not PAPERS.is_dir(), reason="the real papers are not here")
def test_ten_questions_about_figures_find_their_row(ask_papers: Callable[[str], Turn]) -> None:
    right = 0
    for question, (row, value) in ASKED.items():
        answer = ask_papers(question).answer
        right += any(row in sentence.claim and value in sentence.claim for sentence in answer.sentences[:1])
        for citation in (citation for sentence in answer.sentences for citation in sentence.citations):
            if "(Table" in citation.claim:
                assert (citation.support, citation.sentence is None) == (1.0, False)
    assert right >= LEAST_RIGHT


@pytest.mark.skipif(not PAPERS.is_dir(), reason="the real papers are not here")
def test_a_question_how_something_works_is_answered_in_prose(ask_papers: Callable[[str], Turn]) -> None:
    answer = ask_papers("How does the baseline CRF work?").answer
    assert answer.text
    assert "(Table" not in answer.text


@pytest.mark.skipif(not PAPERS.is_dir(), reason="the real papers are not here")
def test_a_cell_of_another_paper_is_no_answer(
    ask_papers: Callable[[str], Turn],
) -> None:
    answer = ask_papers("Which features help relation extraction most?").answer
    cited = {
        citation.passage_id.split("#")[0] for sentence in answer.sentences for citation in sentence.citations
    }
    assert cited == {"papers/P05-1053"}
    assert "(Table" not in answer.text


def table_passage(caption: str, table: Table, number: int = 1) -> Passage:
    parts = [f"{caption} ", *(f"{text}\n" for text in row_texts(table))]
    ends = [sum(map(len, parts[: at + 1])) for at in range(len(parts))]
    sentences = tuple(Sentence(start, end) for start, end in zip([0, *ends], ends, strict=False))
    return Passage(f"p#{number}", "p", "c", number, "table", (), "".join(parts), sentences, table=table)


SCORES = table_passage(
    "Table 2: Tagging of English newswire.",
    Table((("System", "P", "R"), ("Tagger", "81.2", "79.0"), ("Tagger + context", "85.0", "83.3")), 1),
)
TO = [
    table_passage(f"Table {n}: Translation, {pair}.", Table((("", "Bleu"), ("base", value)), 1), n)
    for n, pair, value in ((3, "English to German", "14.2"), (4, "German to English", "18.5"))
]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What precision does the tagger reach?", "Tagger: P 81.2 (Table 2)."),
        ("What recall does the tagger with context reach?", "Tagger + context: R 83.3 (Table 2)."),
        ("On English newswire, which recall has the tagger?", "Tagger: R 79.0 (Table 2)."),
    ],
)
def test_the_row_and_the_column_that_are_named_are_told(question: str, told: str) -> None:
    assert [found.text for found in asked_cells(question, [(SCORES, "A paper")])] == [told]


@pytest.mark.parametrize(
    "question",
    [
        "How does the tagger work on English newswire?",
        "Why is the precision of the tagger low?",
        "When is precision of a tagger a good measure?",
        "Does the tagger reach a precision of 90?",
        "What does Table 2 show?",
        "What is a tagger?",
        "What precision does the chunker reach?",
        "",
    ],
)
def test_fault_a_question_of_no_cell_was_answered_by_one(question: str) -> None:
    assert asked_cells(question, [(SCORES, "A paper")]) == []


def test_fault_english_to_german_was_answered_by_german_to_english() -> None:
    found = asked_cells("What Bleu has base for English to German translation?", [(name, "") for name in TO])
    assert [cell.text for cell in found] == ["base: Bleu 14.2 (Table 3)."]
