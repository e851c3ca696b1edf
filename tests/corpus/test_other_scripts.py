"""Texts in other languages are cut into sentences, words and passages, and found."""

from pathlib import Path

import pytest

from assistant.checking.overlap import best_sentence, score_attribution
from corpus.encoders.base import Encoder
from corpus.records import USUAL_SIZE, Scope
from corpus.search.hybrid import search
from corpus.sentences import sentence_spans
from corpus.store.corpus import Corpus
from corpus.text import shortened, spaced, words
from indexer.parsers.document import Document, DocumentSection, Paragraph, Piece
from indexer.prepare.passages import make_passages
from tests import small_corpus
from tests.other_languages import TEXTS

SENTENCES = {"de": 4, "fr": 3, "es": 3, "zh": 4, "ja": 4, "ru": 3, "ar": 5, "ko": 4, "hi": 3, "en": 3}


@pytest.mark.parametrize(("code", "text"), TEXTS.items())
def test_sentences_are_told_in_every_script(code: str, text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert len(spans) == SENTENCES[code]


def test_words_of_scripts_without_spaces_were_one_word() -> None:
    assert words("BM25是什么？") == ["bm25", "是什", "什么"]
    assert words("猫") == ["猫"]
    assert words("हिन्दी में सारांश") == ["हिन्दी", "में", "सारांश"]
    assert words("Treue für 3-gram models' $x$") == ["treue", "für", "3-gram", "models", "x"]
    assert len(words(TEXTS["zh"])) > 50 and len(words(TEXTS["ja"])) > 50


@pytest.mark.parametrize("text", [TEXTS["de"], TEXTS["ru"], TEXTS["ko"], TEXTS["en"], "σ(α)=β", ""])
def test_what_has_spaces_stays_as_it_is(text: str) -> None:
    assert spaced(text) == text
    assert words(spaced(TEXTS["zh"])) == words(TEXTS["zh"])


def test_sections_quotations_and_titles_without_spaces_are_cut_and_compared() -> None:
    pieces = tuple(
        Piece(TEXTS["zh"][start:end], ()) for _ in range(20) for start, end in sentence_spans(TEXTS["zh"])
    )
    document = Document(sections=(DocumentSection((), (Paragraph(pieces),)),))
    _, *body = make_passages(small_corpus.make_paper("notes", "zh"), document)
    assert len(body) > 3
    assert all(len(passage.text) <= 2 * USUAL_SIZE.words for passage in body)
    assert all(passage.sentence_text(0).startswith(("我们", "该方法", "在四", "检索")) for passage in body)
    zh, ru = TEXTS["zh"], TEXTS["ru"]
    assert score_attribution(zh[:20], zh) == 1.0
    assert score_attribution("Метод реферирования документов", ru) > 0.6
    assert score_attribution(zh[:20], TEXTS["en"]) == 0.0
    assert best_sentence("检索使用倒排索引", [zh[start:end] for start, end in sentence_spans(zh)])[0] == 3
    assert score_attribution("The naïve α rate is 3", "The rate α is 3.") == score_attribution(
        "The naïve rate is 3", "The rate is 3."
    )
    assert len(shortened("BM25 " + "长" * 60, 40)) > 30


@pytest.mark.parametrize(
    ("query", "code"),
    [
        *(("倒排索引", "zh"), ("摘要方法", "zh"), ("転置索引を用いる", "ja"), ("Zusammenfassung", "de")),
        *(("реферирования", "ru"), ("لتلخيص الوثائق", "ar"), ("역색인을", "ko"), ("सारांश", "hi")),
        ("condenses sentences", "en"),
    ],
)
def test_terms_of_every_script_are_found(corpus: Corpus, encoder: Encoder, query: str, code: str) -> None:
    first, *_ = search(corpus, encoder, query, Scope(), mode="lexical")
    assert first.paper.id.endswith(f"/{code}")


def test_a_phrase_in_chinese_is_found_as_it_stands(corpus: Corpus) -> None:
    held = corpus.holding("使用倒排索引", Scope(), 10)
    assert [hit.paper_id.rpartition("/")[2] for hit in held] == ["zh"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Corpus:
    path: Path = tmp_path_factory.mktemp("languages")
    papers = {small_corpus.make_paper("notes", code): [text] for code, text in TEXTS.items()}
    small_corpus.write_corpus(path, encoder, papers)
    return Corpus.open(path, encoder)
