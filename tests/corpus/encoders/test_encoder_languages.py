"""The languages an encoder reads, by its name and by the card beside its weights."""

from pathlib import Path

import pytest

from corpus.encoders.languages import encoder_languages, reads_language


@pytest.mark.parametrize(
    ("name", "reads", "reads_not"),
    [
        ("all-MiniLM-L6-v2", ("en",), ("de", "und")),
        ("intfloat/multilingual-e5-small", ("en", "de", "zh", "no", "und"), ("xx",)),
        ("/models/BGE-M3", ("de", "ja"), ("xx",)),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", ("de", "yo"), ("la",)),
        ("Snowflake/snowflake-arctic-embed-l", ("en",), ("de",)),
        ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", ("de", "zh"), ("la",)),
    ],
)
def test_known_encoders_read_languages(name: str, reads: tuple[str, ...], reads_not: tuple[str, ...]) -> None:
    assert [code for code in reads if not reads_language(name, code)] == []
    assert [code for code in reads_not if reads_language(name, code)] == []


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        ("---\nlanguage: de\n---\n# A model", {"de"}),
        ("---\r\nlanguage:\r\n- en\r\n- German\r\n- no\r\n---\r\n", {"en", "de", "no"}),
        ("---\nlanguage: multilingual\n---\n", {"und"}),
        ("---\nlanguage: {a: [\n---\n", {"en"}),
        ("---\nlanguage: 3\n---\n", {"en"}),
        ("---\n- de\n---\n", {"en"}),
        ("language: de", {"en"}),
        ("", {"en"}),
    ],
)
def test_a_card_says_which_languages_its_model_reads(tmp_path: Path, card: str, expected: set[str]) -> None:
    (tmp_path / "README.md").write_bytes(card.encode())
    assert encoder_languages(str(tmp_path)) == expected


def test_what_is_said_to_be_for_any_language_reads_all(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("---\nlanguage: multilingual\n---\n", encoding="utf-8")
    assert reads_language(str(tmp_path), "de") and reads_language(str(tmp_path), "und")
