"""Questions on a part of a single paper: its problem, approach, data or limitations."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict

from assistant.questions.names import names_in, squashed
from assistant.questions.perspective import without_perspective
from assistant.questions.vocabulary import content_words, vocabulary
from assistant.records import ElementName
from corpus.records import AspectName

PartName = Literal[
    "settings", "future", "limitations", "data", "evaluation", "results", "contributions", "conclusion",
    "problem", "approach", "about",
]  # fmt: skip
# "What does the method achieve?": its subject only stands for the paper, like "it" or "the authors".
_SUBJECT = re.compile(
    r"\b(do|does|did|can|could|is|are|was|were|has|have) (?:the|this|that|these|their|its|proposed|his|her)"
    r"(?: (?:proposed|presented|new|own))?"
    r" (?:methods?|approach(?:es)?|models?|systems?|papers?|stud(?:y|ies)|work|article|authors?|"
    r"experiments?)\b"
    r"(?=(?: \w+ly)? (?:\w+ed\b|built|trained|shown|work|do\b|achieve|find|solve|fail|use|have|lack|perform|"
    r"reach|address|tackle|improve|compare|conclude|propose|cover|suggest|report|say|show|need|contribute|"
    r"present|introduce|evaluate|plan|intend|rely|rest|differ|matter|not\b))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“([^”]{1,1000})”")
_BRIEFLY = re.compile(
    r"\bin (?:an? |one |two |three |some )?(?:few |short |brief )?"
    r"(?:sentences?|words|lines|paragraphs?|nutshell)\b",
    re.IGNORECASE,
)
_HEAD = re.compile(r": |\s[–—-]\s")
_OF_PAPER = frozenset(
    "paper papers study article work author authors researchers writer writers it they he she its their them"
    " this these that here there main key most overall exactly own already was were been does did done say"
    " briefly please"
    " says tell give given get gets go goes make made kind kinds type types any also really text".split()
)


def _compiled(pattern: object) -> Any:
    return re.compile(pattern, re.IGNORECASE) if isinstance(pattern, str) and pattern else None


class PartCues(BaseModel):
    """The cues of a part, in questions and in papers; parts.toml describes each field."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    asked: Annotated[re.Pattern[str], BeforeValidator(_compiled)]
    aspects: tuple[AspectName, ...] = ()
    elements: tuple[ElementName, ...] = ()
    roles: tuple[str, ...] = ()
    said: Annotated[re.Pattern[str] | None, BeforeValidator(_compiled)] = None
    said_late: Annotated[re.Pattern[str] | None, BeforeValidator(_compiled)] = None
    against: Annotated[re.Pattern[str] | None, BeforeValidator(_compiled)] = None
    missing: str
    narrow: Annotated[re.Pattern[str] | None, BeforeValidator(_compiled)] = None


@dataclass(frozen=True, slots=True)
class AskedPart:
    """A part of a paper that is asked for; `is_all`: the question asks for nothing narrower.

    `subject` holds the other words of the question: the paper's name, or a narrower subject. `term` is the
    only detail of the part asked for ("learning rate"), "" if all of it is.
    """

    name: PartName
    subject: tuple[str, ...] = ()
    term: str = ""

    @property
    def is_all(self) -> bool:
        return not self.subject

    @property
    def cues(self) -> PartCues:
        return part_cues()[self.name]


@cache
def part_cues() -> dict[PartName, PartCues]:
    """Return the cues of every part, in the order in which they are tried."""
    table = tomllib.loads(Path(__file__).with_name("parts.toml").read_text(encoding="utf-8"))
    return {name: PartCues.model_validate(table[name]) for name in get_args(PartName)}


def asked_part(question: str) -> AskedPart | None:
    """Return the part of a paper that a question asks for first, None if it asks for none."""
    plain = _SUBJECT.sub(r"\1", _BRIEFLY.sub(" ", _QUOTED.sub(" ", without_perspective(question))))
    first_cues = {name: match for name, cues in part_cues().items() if (match := cues.asked.search(plain))}
    if len(first_cues) > 1:
        # Any question asks what a paper is about: another part that it names is meant.
        first_cues.pop("about", None)
    if not first_cues:
        return None
    name = min(first_cues, key=lambda name: first_cues[name].start())
    asked, narrow = part_cues()[name].asked, part_cues()[name].narrow
    known = vocabulary()
    naming_part = {word for match in asked.finditer(plain) for word in content_words(match[0])}
    other = [
        word
        for word in content_words(plain)
        if word not in naming_part | known.frame | known.generic | known.verbs | known.judging | _OF_PAPER
        and not any(cues.asked.fullmatch(word) for cues in part_cues().values())
    ]
    term = first_cues[name][0]
    return AskedPart(name, tuple(other), term if narrow and not narrow.search(term) else "")


def meant_title(query: str, titles: Sequence[str]) -> int | None:
    """Return the index of the paper whose title a query quotes, or whose name in the title it has.

    None if it names none of them, or several.
    """
    if quoted := _QUOTED.search(query):
        start = squashed(quoted[1].removesuffix(" ..."))
        indices = [index for index, title in enumerate(titles) if start and squashed(title).startswith(start)]
        return indices[0] if indices else None
    named = {squashed(name) for name in names_in(query)}
    heads = [_HEAD.split(title)[0] for title in titles]
    best = [index for index, head in enumerate(heads) if squashed(head) in named] or [
        index for index, head in enumerate(heads) if named.intersection(map(squashed, head.split()))
    ]
    return best[0] if len(best) == 1 else None
