"""Real related-work sections whose sentences people tagged (CORWA), read from JSON lines."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluation.input_files import EvaluationError, read_json_lines
from evaluation.summaries.citation_style import with_labels

Tag = Literal["Single_summ", "Multi_summ", "Narrative_cite", "Reflection", "Transition", "Other"]
TAGS: tuple[Tag, ...] = get_args(Tag)
# Where the weights of the classifier that was trained on them are.
TAG_WEIGHTS = Path(__file__).parent / "data" / "sentence_tags.json"
# A quarter of the papers, by a hash of their ids: whoever measures holds back the same ones.
_HELD_OUT_BELOW = 64
_LABEL = re.compile(r"\[\d+\]")


class TaggedParagraph(BaseModel):
    """Sentences of one paragraph, each with its tag."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sentences: tuple[str, ...] = Field(max_length=1000)
    tags: tuple[Tag, ...]

    @model_validator(mode="after")
    def _have_a_tag_each(self) -> "TaggedParagraph":
        if len(self.sentences) != len(self.tags):
            raise ValueError(f"{len(self.sentences)} sentences have {len(self.tags)} tags")
        return self


class TaggedSection(BaseModel):
    """A paper's section on related work."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    s2_paper_id: str = Field(min_length=1)
    paragraphs: tuple[TaggedParagraph, ...]

    @property
    def is_held_out(self) -> bool:
        return hashlib.sha256(self.s2_paper_id.encode()).digest()[0] < _HELD_OUT_BELOW

    @property
    def tags(self) -> tuple[Tag, ...]:
        return tuple(tag for paragraph in self.paragraphs for tag in paragraph.tags)

    @property
    def text(self) -> tuple[tuple[str, ...], ...]:
        """The sentences, paragraph by paragraph; paragraphs without any are left out."""
        return tuple(paragraph.sentences for paragraph in self.paragraphs if paragraph.sentences)


def citing_by_labels(section: TaggedSection) -> TaggedSection:
    """Return a section in the style of our summaries: works have labels, and each sentence on one has it.

    A sentence that goes on summarising a work, which papers leave without a citation, repeats the label.
    """
    numbers: dict[str, int] = {}
    return section.model_copy(
        update={"paragraphs": tuple(_labelled(paragraph, numbers) for paragraph in section.paragraphs)}
    )


def _labelled(paragraph: TaggedParagraph, numbers: dict[str, int]) -> TaggedParagraph:
    sentences: list[str] = []
    label = ""
    for sentence, tag in zip(paragraph.sentences, paragraph.tags, strict=True):
        written = with_labels(sentence, numbers)
        found = _LABEL.findall(written)
        if tag != "Single_summ":
            label = ""
        elif found:
            label = found[0]
        elif label:
            written = f"{written.rstrip().removesuffix('.').rstrip()} {label}."
        sentences.append(written)
    return paragraph.model_copy(update={"sentences": tuple(sentences)})


def read_sections(path: Path) -> tuple[TaggedSection, ...]:
    """Return the sections of a file; raises EvaluationError that names the line at fault."""
    return tuple(read_json_lines(path, TaggedSection, "Each line is a section of CORWA."))


def read_sections_to_train_on(path: Path) -> tuple[TaggedSection, ...]:
    """Return the sections of a file; raises EvaluationError also where they are too few to train on."""
    sections = read_sections(path)
    for part in (held_out(sections), trained_on(sections)):
        if len({tag for section in part for tag in section.tags}) < 2:
            raise EvaluationError(
                f"{path} holds too few sections: sentences of two tags at least are needed to train on,"
                " and as many to hold back."
            )
    return sections


def held_out(sections: Sequence[TaggedSection]) -> tuple[TaggedSection, ...]:
    """Return the sections that nothing may be trained on."""
    return tuple(section for section in sections if section.is_held_out)


def trained_on(sections: Sequence[TaggedSection]) -> tuple[TaggedSection, ...]:
    return tuple(section for section in sections if not section.is_held_out)
