import json

import pytest

from corpus.language.identified import UNTOLD, foreign_language, language_of_text
from corpus.language.names import language_code, language_name
from evaluation.languages import ASKED
from tests.other_languages import TEXTS

# Short, full of names, acronyms and signs, mistyped: none of them may be refused.
ENGLISH = (
    "DAMEN?",
    "BERT vs RoBERTa",
    "LoRA rank alpha",
    "what is bert",
    "Sprachmodell",
    "Attention Is All You Need",
    "Schütze and Manning",
    "João da Silva and María de la Cruz",
    "van der Maaten t-SNE",
    "die casting defects",
    "GPT-4o mini vs. Llama-3.1-8B-Instruct",
    "σ(α)",
    "α = β?",
    "$\\sum_i x_i$",
    "L1 vs L2 loss?",
    "teh trasnformer atention mecanism",
    "a la carte embeddings",
    "per capita papers",
    "de facto standard for MT?",
    "nDCG@10 MRR MAP",
    "pre-trained seq2seq",
    "“Wie misst man Treue?” in English",
    "What does 'Zusammenfassung' mean?",
    "naïve Bayes",
    "résumé parsing",
    "Kullback-Leibler",
    "summarisation eval metrics corr",
    "lang id",
    "mT5",
    "What does 索引 mean?",
    "BERT vs ERNIE 文心",
    "Is BERT in 中文 good?",
)


@pytest.mark.parametrize("question", ENGLISH)
def test_a_short_question_in_english_is_never_taken_for_another_language(question: str) -> None:
    assert foreign_language(question) == ""


@pytest.mark.parametrize(
    ("code", "question"),
    [
        ("zh", "ColBERTv2 的索引有多大？"),
        ("zh", "LSTM 和 Transformer 有什么区别？"),
        ("ja", "BERTとは何ですか"),
    ],
)
def test_latin_names_do_not_hide_the_language_of_a_question(code: str, question: str) -> None:
    assert foreign_language(question) == code


@pytest.mark.parametrize(("code", "text"), TEXTS.items())
def test_a_paper_is_in_the_language_it_is_written_in(code: str, text: str) -> None:
    assert language_of_text(text) == code
    assert foreign_language(text) == ("" if code == "en" else code)


@pytest.mark.parametrize("text", ["", "BM25", "Wir stellen", "12 34 56 " * 40])
def test_of_a_text_that_says_little_no_language_is_told(text: str) -> None:
    assert language_of_text(text) == ""


def test_questions_kept_apart_are_told_to_be_in_another_language() -> None:
    rows = [json.loads(line) for line in ASKED.read_text(encoding="utf-8").splitlines()]
    kept = [row for row in rows if row["part"] == "kept"]
    told = [(row["language"], foreign_language(row["question"])) for row in kept]
    assert len(kept) >= 60 and len({code for code, _ in told}) >= 10
    assert sum(bool(code) for _, code in told) >= 0.95 * len(kept)
    assert sum(said == code for said, code in told) >= 0.9 * len(kept)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *(
            ("en-US", "en"),
            ("DE", "de"),
            ("English", "en"),
            ("Deutsch", "de"),
            ("fra", "fr"),
            ("zh_CN", "zh"),
        ),
        *(("", ""), ("x1", ""), ("neither here nor there", ""), ("\u200b", ""), ("ger", "de")),
    ],
)
def test_a_language_is_named_in_many_ways(name: str, code: str) -> None:
    assert language_code(name) == code


def test_a_language_has_an_english_name() -> None:
    named = [language_name(code) for code in ("de", "zh", "no", "he")]
    assert named == ["German", "Chinese", "Norwegian", "Hebrew"]
    assert [language_name(code) for code in ("", "x/y", "q q")] == ["", "x/y", "q q"]
    assert language_name(UNTOLD)
