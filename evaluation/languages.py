"""How surely the language of questions and of papers is told."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lxml import etree
from pydantic import BaseModel

from corpus.language import ENGLISH, foreign_language, language_code, language_of_text
from evaluation.input_files import EvaluationError, read_json_lines

_HINT = "Each line is an object with a question."
ASKED = Path(__file__).parent / "data" / "asked_in_languages.jsonl"


class _Asked(BaseModel):
    language: str
    part: str
    question: str


class _Row(BaseModel):
    """A line of whichever file, with its questions under one of the usual names."""

    question: str = ""
    query: str = ""
    rewrite: str = ""


@dataclass(frozen=True, slots=True)
class LanguageFigures:
    """Counts: questions in other languages told as such and told rightly, English ones taken for others.

    `papers` have an abstract and say their language; `english_papers` say none and are in volumes of English.
    """

    foreign: int = 0
    foreign_told: int = 0
    foreign_right: int = 0
    english: int = 0
    english_refused: tuple[str, ...] = ()
    papers: int = 0
    papers_right: int = 0
    english_papers: int = 0
    english_papers_wrong: tuple[str, ...] = ()


def measure_languages(
    part: str, english: Sequence[Path] = (), anthology: Path | None = None, volumes: str = "2022.acl"
) -> LanguageFigures:
    """Measure on questions of `part`, on English ones in files, and on abstracts of the Anthology.

    `volumes` are those of English abstracts. Raises EvaluationError.
    """
    rows = [row for row in read_json_lines(ASKED, _Asked, _HINT) if row.part == part]
    told = [foreign_language(row.question) for row in rows]
    asked = list(dict.fromkeys(one for path in english for one in _questions(path)))
    said = list(_papers(anthology)) if anthology else []
    labelled = [(language, text) for _, language, text in said if language]
    unsaid = [(name, text) for name, language, text in said if not language and name.startswith(volumes)]
    return LanguageFigures(
        foreign=len(rows),
        foreign_told=sum(map(bool, told)),
        foreign_right=sum(code == row.language for code, row in zip(told, rows, strict=True)),
        english=len(asked),
        english_refused=tuple(one for one in asked if foreign_language(one)),
        papers=len(labelled),
        papers_right=sum(language_of_text(text) == language for language, text in labelled),
        english_papers=len(unsaid),
        english_papers_wrong=tuple(
            name for name, text in unsaid if language_of_text(text) not in (ENGLISH, "")
        ),
    )


def counted(figures: LanguageFigures) -> dict[str, int]:
    """Return the figures as numbers: of those named, how many."""
    return {
        name: len(value) if isinstance(value, tuple) else value for name, value in asdict(figures).items()
    }


def _questions(path: Path) -> Iterator[str]:
    """Yield the questions of a file of JSON lines, whichever of the usual names it has for them."""
    for row in read_json_lines(path, _Row, _HINT):
        yield from filter(None, (row.question, row.query, row.rewrite))


def _papers(anthology: Path) -> Iterator[tuple[str, str, str]]:
    """Yield volume and number, the language that is said ("" for none) and the text of each abstract."""
    files = sorted((anthology / "xml").glob("*.xml"))
    if not files:
        raise EvaluationError(f"{anthology} is no data directory of the ACL Anthology: it has no xml/*.xml.")
    for file in files:
        for entry in etree.parse(file).getroot().iter("paper"):
            if (abstract := entry.find("abstract")) is not None:
                said = language_code(entry.findtext("language") or "")
                yield (
                    f"{file.stem}-{entry.get('id')}",
                    said,
                    f"{_text(entry.find('title'))} {_text(abstract)}",
                )


def _text(element: "etree._Element | None") -> str:
    return "" if element is None else " ".join("".join(map(str, element.itertext())).split())
