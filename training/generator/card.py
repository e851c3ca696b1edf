"""What is known of a trained generator, kept beside its weights."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from training.errors import TrainingError
from training.generator.checkpoints import Point
from training.generator.plan import GeneratorPlan

CURVE = "curve.json"
_LICENCE = re.compile(r"^license:\s*(?P<name>[^\n]{1,100})$", re.MULTILINE)


def fingerprint_of(plan: GeneratorPlan) -> str:
    """Return what tells one run from another: the hash of data, model and numbers."""
    parts = {"data": file_sha256(plan.data), "model": _model_of(plan.model), "numbers": plan.numbers}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the hash of a file; raises TrainingError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TrainingError(f"{path} cannot be read: {error.strerror}.") from None


def card_of(
    plan: GeneratorPlan, fingerprint: str, curve: Sequence[Point], about: Mapping[str, object]
) -> str:
    """Return the card as JSON; `about` says how the data were read."""
    card = {
        "kind": "generator",
        "method": "LoRA on all linear layers, merged; loss on the answers' tokens (TruthReader)",
        "fingerprint": fingerprint,
        "base": _model_of(plan.model),
        "data": {"file": plan.data.name, "sha256": file_sha256(plan.data), **about, **_made_of(plan.data)},
        "numbers": plan.numbers,
        "figures": figures_of(curve),
        "licences": _licences(plan),
        "versions": {name: version(name) for name in ("torch", "transformers", "peft")},
    }
    return json.dumps(card, indent=2, ensure_ascii=False) + "\n"


def figures_of(curve: Sequence[Point]) -> dict[str, float]:
    """Return what a run came to: losses are means of its first and its last epoch."""
    seconds = sum(point.seconds for point in curve)
    return {
        "steps": len(curve),
        "first_epoch_loss": _mean_loss(curve, 1),
        "last_epoch_loss": _mean_loss(curve, curve[-1].epoch),
        "tokens": sum(point.tokens for point in curve),
        "answer_tokens": sum(point.answer_tokens for point in curve),
        "seconds": round(seconds, 1),
        "tokens_per_second": round(sum(point.tokens for point in curve) / max(seconds, 1e-9), 1),
    }


def _mean_loss(curve: Sequence[Point], epoch: int) -> float:
    points = [point for point in curve if point.epoch == epoch]
    weighed = sum(point.loss * point.answer_tokens for point in points)
    return round(weighed / sum(point.answer_tokens for point in points), 4)


def _model_of(name: str) -> dict[str, str]:
    """Return a model's name, and for a folder the hash of its weights."""
    weights = sorted(Path(name).glob("*.safetensors"))
    digests = "".join(file_sha256(path) for path in weights)
    return {"name": name, "sha256": hashlib.sha256(digests.encode()).hexdigest() if weights else ""}


def _licences(plan: GeneratorPlan) -> dict[str, str]:
    try:
        readme = (Path(plan.model) / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        readme = ""
    found = _LICENCE.search(readme)
    return {
        "base": found["name"].strip() if found else "not stated beside the weights",
        "note": "These weights are made of the base model's and are under its licence. Their data quote the"
        " documents they were made of and were written by a model: the terms of both apply.",
    }


def _made_of(data: Path) -> dict[str, object]:
    """Return what is said beside the data of how they were made."""
    try:
        told = json.loads(data.with_suffix(".statistics.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {"made": told} if isinstance(told, dict) else {}
