"""SciFact's training claims, asked in our own words: they stand in where SciRIFF is not here."""

from pathlib import Path
from string import Template
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evaluation.input_files import EvaluationError, read_text, record_of
from evaluation.instructions.items import Item
from evaluation.instructions.tasks import CLAIMS

_PROMPT = Path(__file__).parent / "prompts" / "claim.md"
_HINT = 'Each line is {"set", "id", "claim", "references", "label_raw", "supporting_sentences"}.'
_MARK = '"set": "SciFact"'


class _Claim(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    set: Literal["SciFact"]
    id: str
    claim: str
    references: list[str]
    label_raw: Literal["SUPPORT", "CONTRADICT"]
    supporting_sentences: list[int]


def read_claims(path: Path, limit: int | None = None) -> list[Item]:
    """Return the claims of a file of attribution pairs, each with its abstract; raises EvaluationError."""
    prompt = Template(_PROMPT.read_text(encoding="utf-8").strip())
    lines = enumerate(read_text(path).split("\n"), start=1)
    claims = (record_of(path, number, line, _Claim, _HINT) for number, line in lines if _MARK in line)
    items = [_item(claim, prompt) for place, claim in enumerate(claims) if limit is None or place < limit]
    if not items:
        raise EvaluationError(f"{path} has no claims of SciFact.")
    return items


def _item(claim: _Claim, prompt: Template) -> Item:
    sentences = [" ".join(sentence.split()) for sentence in claim.references]
    asked = prompt.substitute(claim=claim.claim, abstract="\n".join(sentences))
    evidence = [sentences[place] for place in claim.supporting_sentences if 0 <= place < len(sentences)]
    wanted = {"verdict": claim.label_raw, "evidence": evidence}
    return Item(f"{CLAIMS.name}:train:{claim.id}", CLAIMS, asked, wanted)
