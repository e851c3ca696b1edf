"""The registry of export formats of conversations, comparisons and papers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from assistant.comparing.records import Comparison
from assistant.exports.html import comparison_to_html, to_html
from assistant.exports.latex import BIBLIOGRAPHY, comparison_to_latex, comparison_to_latex_grid
from assistant.exports.markdown import comparison_to_markdown, grid_to_markdown, to_markdown
from assistant.exports.references import papers_as_bibtex, papers_as_csl_json, papers_as_ris
from assistant.exports.tables import grid_to_csv, papers_as_csv
from assistant.exports.zotero import comparison_to_zotero, conversation_to_zotero
from assistant.records import AssistantError, Conversation
from assistant.trail.comparison_file import comparison_to_json
from assistant.trail.transcript import to_json
from corpus.records import Paper

# The names of the formats for the command line and the API, in order; two more are on the screens only.
ConversationFormatName = Literal["json", "md", "html", "docx", "bib", "ris", "csl", "rdf"]
OptionName = Literal[ConversationFormatName, "tex", "csv"]
ReferenceName = Literal["bib", "ris", "csl"]
FormatName = OptionName | Literal["table", "tex_table"]
Exported = TypeVar("Exported")
# By the last part of a file's ending.
_MEDIA_TYPES = {
    "json": "application/json",
    "md": "text/markdown",
    "html": "text/html",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "rdf": "application/rdf+xml",
    "bib": "application/x-bibtex",
    "ris": "application/x-research-info-systems",
    "tex": "text/x-tex",
    "csv": "text/csv",
}


@dataclass(frozen=True, slots=True)
class Format(Generic[Exported]):
    """An export format; `stem` begins the file's name if that is fixed."""

    name: FormatName
    label: str
    ending: str
    write: Callable[[Exported], str | bytes]
    stem: str = ""

    @property
    def mime(self) -> str:
        return _MEDIA_TYPES[self.ending.rpartition(".")[2]]

    @property
    def file_name(self) -> str:
        return f"{self.stem}.{self.ending}"


def _references(
    papers: Callable[[Exported], Iterable[Paper]], label: str, stem: str = ""
) -> tuple[Format[Exported], ...]:
    """Return the formats of references to the papers of a record."""

    def written(write: Callable[[Iterable[Paper]], str]) -> Callable[[Exported], str]:
        return lambda exported: write(papers(exported))

    return (
        Format("bib", f"{label}BibTeX", "bib", written(papers_as_bibtex), stem),
        Format("ris", f"{label}RIS", "ris", written(papers_as_ris), stem),
        Format("csl", f"{label}CSL-JSON", "csl.json", written(papers_as_csl_json), stem),
    )


def _conversation_to_word(conversation: Conversation) -> bytes:
    from assistant.exports.word import conversation_to_word  # noqa: PLC0415 - python-docx takes a while

    return conversation_to_word(conversation)


def _comparison_to_word(comparison: Comparison) -> bytes:
    from assistant.exports.word import comparison_to_word  # noqa: PLC0415 - python-docx takes a while

    return comparison_to_word(comparison)


CONVERSATION_FORMATS: tuple[Format[Conversation], ...] = (
    Format("json", "JSON, complete, can be imported", "json", to_json),
    Format("md", "Markdown, to edit and share", "md", to_markdown),
    Format("html", "Web page, to read and print", "html", to_html),
    Format("docx", "Word document, with references", "docx", _conversation_to_word),
    Format("rdf", "Zotero: papers, answers as notes", "rdf", conversation_to_zotero),
    *_references(lambda record: record.papers, "Cited papers as "),
)
COMPARISON_FORMATS: tuple[Format[Comparison], ...] = (
    Format("json", "JSON, complete", "json", comparison_to_json, "comparison"),
    Format("md", "Markdown, to edit and share", "md", comparison_to_markdown, "comparison"),
    Format("html", "Web page, to read and print", "html", comparison_to_html, "comparison"),
    Format("docx", "Word document, with references", "docx", _comparison_to_word, "comparison"),
    Format("rdf", "Zotero: papers and summary", "rdf", comparison_to_zotero, "zotero"),
    Format("tex", "LaTeX, with \\cite", "tex", comparison_to_latex, "comparison"),
    # The LaTeX file names it: it is found under this name alone.
    *_references(lambda record: record.papers, "Its papers as ", BIBLIOGRAPHY),
    Format("csv", "Key elements as CSV", "csv", grid_to_csv, "key-elements"),
    Format("table", "Key elements as Markdown", "md", grid_to_markdown, "key-elements"),
    Format("tex_table", "Key elements as LaTeX", "tex", comparison_to_latex_grid, "key-elements"),
)
REFERENCE_FORMATS: tuple[Format[Iterable[Paper]], ...] = _references(lambda papers: papers, "", "papers")
PAPER_FORMATS = (
    *REFERENCE_FORMATS,
    Format("csv", "Table as CSV", "csv", papers_as_csv, "papers"),
)


def comparison_text(comparison: Comparison, name: OptionName, file_stem: str) -> str | bytes:
    """Return a comparison in a format; LaTeX takes its references from the BibTeX file of the same stem.

    Raises AssistantError for a format that only conversations have.
    """
    if name == "tex":
        return comparison_to_latex(comparison, file_stem)
    formats = {form.name: form for form in COMPARISON_FORMATS}
    if name not in formats:
        raise AssistantError(f"A comparison cannot be written as {name}.")
    return formats[name].write(comparison)
