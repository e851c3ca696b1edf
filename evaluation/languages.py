"""Measures the accuracy of language identification on questions and on papers."""

from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from pydantic import BaseModel

from corpus.language.identified import foreign_language, language_of_text
from corpus.language.names import language_code
from corpus.language.stemming import ENGLISH
from evaluation.harness import Report, command, plain_table
from evaluation.input_files import DATA, EvaluationError, read_json_lines

_HINT = "Each line is an object with a question."
ASKED = DATA / "asked_in_languages.jsonl"
# Prefix of the volumes whose abstracts are in English unless they state another language.
ENGLISH_VOLUMES = "2022.acl"


class _Asked(BaseModel):
    language: str
    part: str
    question: str


class _Row(BaseModel):
    """A line of a file of questions, which name the text question, query or rewrite."""

    question: str = ""
    query: str = ""
    rewrite: str = ""


def _papers(anthology: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the id ("2022.acl-12"), stated language ("" for none), and title and abstract of each paper."""
    files = sorted((anthology / "xml").glob("*.xml"))
    if not files:
        raise EvaluationError(
            f"{anthology} is not a data directory of the ACL Anthology: it has no xml/*.xml."
        )
    for file in files:
        for entry in etree.parse(file).getroot().iter("paper"):
            if (abstract := entry.find("abstract")) is not None:
                stated = language_code(entry.findtext("language") or "")
                text = f"{_text(entry.find('title'))} {_text(abstract)}"
                yield f"{file.stem}-{entry.get('id')}", stated, text


def _text(element: "etree._Element | None") -> str:
    return "" if element is None else " ".join("".join(map(str, element.itertext())).split())


@command("languages")
def languages(
    *, english: list[Path] | None = None, anthology: Path | None = None, part: str = "kept"
) -> Report:
    rows = [row for row in read_json_lines(ASKED, _Asked, _HINT) if row.part == part]
    identified = [foreign_language(row.question) for row in rows]
    lines = (row for path in english or () for row in read_json_lines(path, _Row, _HINT))
    questions = dict.fromkeys(
        text for row in lines for text in (row.question, row.query, row.rewrite) if text
    )
    refused = [question for question in questions if foreign_language(question)]
    papers = list(_papers(anthology)) if anthology else []
    stated = [(language, text) for _, language, text in papers if language]
    unstated = [
        (name, text) for name, language, text in papers if not language and name.startswith(ENGLISH_VOLUMES)
    ]
    wrong = [name for name, text in unstated if language_of_text(text) not in (ENGLISH, "")]
    figures = {
        "foreign": len(rows),
        "foreign_told": sum(map(bool, identified)),
        "foreign_right": sum(code == row.language for code, row in zip(identified, rows, strict=True)),
        "english": len(questions),
        "english_refused": len(refused),
        "papers": len(stated),
        "papers_right": sum(language_of_text(text) == language for language, text in stated),
        "english_papers": len(unstated),
        "english_papers_wrong": len(wrong),
    }
    mistakes = (f"taken for another language: {name}" for name in (*refused, *wrong))
    return Report(figures, [*mistakes, plain_table(figures, 0)])
