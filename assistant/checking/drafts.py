"""Drafts as models write them: their problems, and their text as prose with citations."""

import json
import re
from dataclasses import dataclass

from assistant.checking.citations import hold_back
from assistant.checking.label_marks import rewrite_marks
from assistant.prompts.echoes import without_echo
from assistant.records import NOTHING_NEAR, Draft, DraftProblem
from corpus.language.identified import foreign_language
from corpus.sentences import sentence_spans
from corpus.text import storable

# An answer is asked to have 150 words; eight times that is read, the rest stays in the record of the call.
LONGEST_READ = 8000
# Fields that hold the answer itself, where a model wrote an object instead of prose.
TEXT_FIELDS = frozenset({"answer", "response", "text", "content", "output", "result", "summary", "message"})
_PROBLEMS: dict[str, DraftProblem] = {
    "interrupted": "interrupted",
    "length": "cut_short",
    "content_filter": "filtered",
}
_FENCE = re.compile(r"```[a-z]*\s*\n?(.*?)(?:```|$)", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r'\{\s*(?:["}]|$)|\[\s*(?:\{|")')
_TAGS = (
    "a abbr article audio b base blockquote body br button canvas code dd details div dl dt em embed font "
    "footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins label li link main mark meta "
    "nav object ol option p pre s section select small source span strike strong style sub summary sup svg "
    "table tbody td template textarea th thead title tr tt u ul video"
).replace(" ", "|")
_HIDDEN = re.compile(
    r"<(script|style)\b[^>]{0,500}>.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(rf"</?(?:script|{_TAGS})\b[^<>]{{0,500}}/?>", re.IGNORECASE)
_IMAGE = re.compile(r"!\[([^\]\n]{0,300})\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,100}\])")
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(\s*(<[^>\n]{0,1000}>|[^()\s]{1,1000})[^)\n]{0,200}\)")
# "[Fritz et al., 2020](#ref-3)" cites what its link leads to.
_REFERENCE = re.compile(
    r"#(?:ref|reference|cite|citation|paper|source|fn|bib|doc)?[-_:.]?(\d{1,3})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ReadDraft:
    """The readable text of a draft, and its problems."""

    text: str
    problems: tuple[DraftProblem, ...]


def read_draft(draft: Draft, question: str, longest: int = LONGEST_READ) -> ReadDraft:
    """Return the prose of a draft, "" if it has none, and its problems.

    Text beyond `longest` characters is cut after a sentence.
    """
    problems: list[DraftProblem] = []
    text = storable(draft.text).strip()
    if draft.finish_reason in _PROBLEMS:
        problems.append(_PROBLEMS[draft.finish_reason])
    if not text and draft.finish_reason != NOTHING_NEAR:
        problems.append("empty")
    if is_structured(text):
        problems.append("structured")
        text = _text_field(text)
    if len(text) > longest or draft.finish_reason == "too_long":
        problems.append("too_long")
        cut = text[:longest]
        spans = sentence_spans(cut)
        text = cut[: spans[-1][0]].rstrip() if len(spans) > 1 else cut
    text, repeated = without_echo(text)
    problems += [repeated] if repeated else []
    if problems:
        text = hold_back(text)[0].rstrip()
    # Tags and links may be marks of citations.
    plain = without_markup(rewrite_marks(text, lambda labels: "".join(f"[{label}]" for label in labels)))
    if without_markup(text) != text:
        problems.append("markup")
    if foreign_language(plain) and not foreign_language(question):
        problems.append("language")
    return ReadDraft(plain, tuple(problems))


def is_structured(text: str) -> bool:
    """Return True if a text is a JSON object or list instead of prose, complete or cut off."""
    return _OBJECT.match(_unfenced(text)) is not None


def _unfenced(text: str) -> str:
    fence = _FENCE.match(text)
    return fence[1].strip() if fence else text


def _text_field(text: str) -> str:
    """Return the one field of an object that is its text, "" if there is none or several."""
    try:
        document = json.loads(_unfenced(text))
    except (ValueError, RecursionError):
        return ""
    if not isinstance(document, dict):
        return ""
    texts = [value for name, value in document.items() if str(name).lower() in TEXT_FIELDS]
    return texts[0].strip() if len(texts) == 1 and isinstance(texts[0], str) else ""


def without_markup(text: str) -> str:
    """Return a text without HTML, images and links, but with their visible text."""
    plain = _TAG.sub("", _HIDDEN.sub("", text))
    plain = _LINK.sub(_shown, _IMAGE.sub(r"\1", plain))
    return plain.strip() if plain != text else text


def _shown(link: re.Match[str]) -> str:
    # "[2](https://...)" is a label that a model made a link of.
    if re.fullmatch(r"[\d\s,;PUIDpuid:.#^-]{1,20}", link[1]):
        return f"[{link[1]}]"
    reference = _REFERENCE.fullmatch(link[2].strip("<>"))
    return f"{link[1]} [{reference[1]}]" if reference else link[1]
