"""Files rendered from templates, with all values escaped for their format."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import groupby
from pathlib import PurePath
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup

from assistant import wording
from assistant.annotations import Annotation
from assistant.checking.overlap import CITATION_SCORES, score_digits
from assistant.comparing import wording as comparing
from assistant.comparing.differences import differences
from assistant.comparing.grid import Grid, element_grid
from assistant.comparing.records import Comparison
from assistant.exports import escaping
from corpus import VERSION
from corpus.wording import all_authors

# Delimiters for LaTeX templates, which are full of braces and per cent signs.
_LATEX_MARKS = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


class _OneLine(Extension):
    """Removes line ends and indentation of templates, which would be white space in HTML."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002
        return "".join(line.strip() for line in source.splitlines())


@cache
def environment(suffix: str) -> Environment:
    """Return the environment that renders templates of a format: ".html", ".md", ".tex" or ".rdf"."""
    marks: Mapping[str, Any] = _LATEX_MARKS if suffix == ".tex" else {}
    made = Environment(
        loader=PackageLoader("assistant.exports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_escaping(_ESCAPES[suffix]),
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_OneLine] if suffix == ".html" else [],
        **marks,
    )
    made.globals |= {
        "all_authors": all_authors,
        "version": escaping.markup(VERSION),
        "wording": wording,
        "comparing": comparing,
        "difference_lines": difference_lines,
        "element_grid": element_grid,
        "column_width": _column_width,
        "citation_scores": CITATION_SCORES,
        "score_digits": score_digits,
    }
    made.filters |= {
        "quoted": escaping.quoted,
        "fenced": escaping.fenced,
        "comment": escaping.in_latex_comment,
        "shortened": _shortened,
        "is_web_address": escaping.is_web_address,
        "by_paper": by_paper,
    }
    return made


def by_paper(notes: Iterable[Annotation]) -> list[tuple[Annotation, list[Annotation]]]:
    """Return for each paper its first note, which names it, and all its notes."""
    groups = (list(held) for _, held in groupby(notes, key=lambda note: note.paper_id))
    return [(held[0], held) for held in groups]


def difference_lines(comparison: Comparison) -> tuple[str, ...]:
    """Return the similarities and differences of the compared papers, a line each."""
    compared = differences(comparison)
    if not compared.has_any:
        return ()
    return (
        *comparing.describe_common(compared),
        *comparing.describe_distinct(compared),
        *comparing.describe_stated(compared),
    )


def render(template: str, **values: Any) -> str:
    """Render a template; the ending of its name is the format."""
    return environment(PurePath(template).suffix).get_template(template).render(values)


# The escaping function of each format.
_ESCAPES: dict[str, Callable[[str], str]] = {
    ".html": escaping.in_html,
    ".md": escaping.escaped,
    ".tex": escaping.in_latex,
    ".rdf": escaping.in_html,
}


def _escaping(escape: Callable[[str], str]) -> Callable[[Any], Markup]:
    """Return a finalizer for template values, which escapes everything except Markup."""
    return lambda value: value if isinstance(value, Markup) else escaping.markup(escape(str(value)))


def _column_width(grid: Grid) -> Markup:
    """Return the width of a column of the grid in LaTeX as a share of the line, the gaps left out."""
    return escaping.markup(f"{0.848 / (len(grid.titles) + 1):.3f}")


def _shortened(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()} …"
