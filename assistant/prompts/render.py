"""Prompts as text files with named gaps, and foreign text made fit to stand in them."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal

from assistant.records import Message, RequestKind
from corpus.language.identified import UNTOLD
from corpus.language.names import language_name

FOLDER = Path(__file__).parent
NO_ANSWER = "NO ANSWER:"

_PARTS = re.compile(r"\A# System\n(?P<system>.+?)^# User\n(?P<user>.+)\Z", re.DOTALL | re.MULTILINE)
# The brackets around our own marks; in foreign text they and similar brackets are replaced.
MARKS = "⟦⟧"
_MARK_BRACKETS = str.maketrans(f"{MARKS}〚〛", "[][]")
_NUMBER_BRACKETS = re.compile(r"\[(\s*\d+(?:\s*[,;–-]\s*\d+)*\s*)\]")
_NO_ANSWER_LINE = re.compile(rf"[\s*_>`]*{NO_ANSWER}[*_`]*+\s*+(?P<reason>[^\n]*)", re.IGNORECASE)

SummaryForm = Literal["prose", "sentences"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's system and user part, with gaps written $name."""

    name: str
    system: str
    user: str

    def render(self, **values: str) -> tuple[Message, ...]:
        """Return the messages with every gap filled; raises ValueError unless `values` name exactly the gaps.

        Values are inserted as they are: pass foreign text through `as_data` or `as_line` first.
        """
        gaps = {*Template(self.system).get_identifiers(), *Template(self.user).get_identifiers()}
        if gaps != values.keys():
            missing, extra = sorted(gaps - values.keys()), sorted(values.keys() - gaps)
            raise ValueError(f"prompt {self.name!r}: missing {missing}, extra {extra}")
        return (
            Message("system", Template(self.system).substitute(values)),
            Message("user", Template(self.user).substitute(values)),
        )


def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Read prompt `name` from its file, ours or another folder's; raises ValueError without its two parts."""
    parts = _PARTS.match(((folder or FOLDER) / f"{name}.md").read_text(encoding="utf-8"))
    if parts is None:
        raise ValueError(f"prompt {name!r}: a '# System' part and then a '# User' part are needed")
    system, user = parts["system"].strip(), parts["user"].strip()
    if not (Template(system).is_valid() and Template(user).is_valid()):
        raise ValueError(f"prompt {name!r}: a dollar sign that begins no gap is written $$")
    return Prompt(name, system, user)


@cache
def _table(name: str) -> dict[str, str]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def task(kind: RequestKind, language: str = "") -> str:
    """Return the instructions for an answer to that kind of request, in `language` if not English."""
    if not language:
        return _table("tasks")[kind].strip()
    named = language_name(language) if language != UNTOLD else "the language it is asked in"
    in_language = Template(_table("languages")["answer"].strip()).substitute(language=named)
    return f"{_table('tasks')[kind].strip()}\n\n{in_language}"


def short_task(kind: RequestKind | Literal["part"], language: str = "") -> str:
    """Return one or two lines of instructions for that kind of request, for a small model.

    "part" is a part of one paper, such as its data or its limitations.
    """
    instructions = _table("short_tasks")[kind]
    if not language:
        return instructions
    named = language_name(language) if language != UNTOLD else "the language of the question"
    return f"{instructions} {Template(_table('short_tasks')['language']).substitute(language=named)}"


def example(kind: RequestKind) -> str:
    """Return a worked example of an answer to a request of that kind, a block of its own."""
    return f"{_table('examples')['lead'].strip()}\n\n{_table('examples')[kind].strip()}\n\n"


def example_subjects() -> tuple[str, ...]:
    """Return the subject words of the examples in our prompts."""
    return tuple(_table("examples")["subjects"].split())


def form(name: SummaryForm) -> str:
    """Return the instructions on the form of a summary."""
    return _table("forms")[name].strip()


def mark(text: str) -> str:
    """Return a mark that sets data off from the rest of a prompt; no foreign text can contain one."""
    return f"{MARKS[0]}{as_line(text)}{MARKS[1]}"


def as_data(text: str) -> str:
    """Return a copy of foreign text that can forge neither a mark nor a label.

    Bracketed numbers, a paper's own references, keep their numbers in brackets of another form.
    """
    return _NUMBER_BRACKETS.sub(r"〔\1〕", text.translate(_MARK_BRACKETS)).strip()


def as_written(text: str) -> str:
    """Return a draft with labels of ours in it as data: it can forge no mark, and its labels stay."""
    return text.translate(_MARK_BRACKETS).strip()


def as_line(text: str) -> str:
    """Return foreign text as `as_data` does, on one line."""
    return " ".join(as_data(text).split())


def no_answer_reason(text: str) -> str | None:
    """Return the reason of a reply that says the papers do not answer, None for any other reply."""
    match = _NO_ANSWER_LINE.match(text)
    return match["reason"].strip(" *_`") if match else None
