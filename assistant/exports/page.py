"""The parts that pages for people are made of: no script, nothing fetched, all text of others escaped."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from assistant import wording
from assistant.attribution import WORD_BESIDE
from assistant.exports.elements import Element, element, joined, link
from assistant.exports.written import STRONG
from assistant.records import Call, LabelledPaper
from corpus.version import VERSION


def page(title: str, *content: str) -> str:
    """Return a whole page that stands alone."""
    end = element("footer", element("p", f"Exported from Paper Trail {VERSION}.", class_="quiet"))
    body = element("body", element("h1", title), *content, end)
    return f"<!doctype html>\n{element('html', _head(title), body, lang='en')}\n"


def quiet(text: str) -> Element:
    """Return a paragraph of small grey text."""
    return element("p", text, class_="quiet")


def _head(title: str) -> Element:
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )


@cache
def _style() -> Element:
    return Element(Path(__file__).with_name("page.css").read_text(encoding="utf-8"))


def call_parts(call: Call) -> Iterator[Element]:
    """Yield what was sent and received, and how it went."""
    yield element("h4", f"{call.step} by {call.model}")
    yield element("p", " · ".join(wording.call_facts(call)), class_="quiet")
    for message in call.messages:
        yield element("p", message.role, class_="quiet")
        yield element("pre", message.content)
    yield element("p", "reply", class_="quiet")
    yield element("pre", call.reply)


def reference(labelled: LabelledPaper) -> Element:
    """Return the item of a list of references."""
    paper = labelled.paper
    facts = (wording.authors(paper.authors), paper.venue, str(paper.year or ""))
    return element(
        "li",
        element("span", f"[{labelled.label}]", class_="number"),
        link(paper.url, paper.title or paper.id),
        f". {'. '.join(fact for fact in facts if fact)} ",
        element("span", paper.id, class_="quiet"),
    )


def score_bar(name: str, score: float | None, label: str = "") -> Element:
    """Return a bar with its number and word; a score that was not measured has neither."""
    shown = label or name.capitalize()
    if score is None:
        return element("span", f"{shown} – no score", class_="score")
    word = WORD_BESIDE[name](score)
    width = f"{min(100.0, max(0.0, score * 100)):.0f}"
    bar = element("rect", width=width, height="10", class_=word)
    drawn = element("svg", bar, viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")
    return element("span", shown, drawn, f"{score:.2f} {word}", class_="score")


def folded(title: str, content: Iterable[Element]) -> Element:
    """Return content that a click unfolds."""
    return element("details", element("summary", title), *content)


def styled(text: str) -> Element:
    """Return written text with its **strong** words as such."""
    parts = STRONG.split(text)
    return joined(*(element("strong", part) if index % 2 else part for index, part in enumerate(parts)))
