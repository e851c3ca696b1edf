"""What a run that was killed goes on from: adapters, optimiser, chance, and how far it was."""

import io
import pickle
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from peft import get_peft_model_state_dict, set_peft_model_state_dict

from training.errors import TrainingError
from training.folders import saving, write_durably

NAME = "checkpoint.pt"


@dataclass(frozen=True, slots=True)
class Point:
    """One step of a run: its mean loss on the answers' tokens, all its tokens, and the seconds it took."""

    step: int
    epoch: int
    loss: float
    tokens: int
    answer_tokens: int
    seconds: float


def save_checkpoint(
    out: Path, fingerprint: str, model: Any, optimiser: torch.optim.Optimizer, curve: list[Point]
) -> None:
    """Keep a run as it is after the last step of its curve; raises TrainingError where the disk is full."""
    state = {
        "fingerprint": fingerprint,
        "adapters": get_peft_model_state_dict(model),
        "optimiser": optimiser.state_dict(),
        "chance": torch.get_rng_state(),
        "chance_cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "curve": [asdict(point) for point in curve],
    }
    written = io.BytesIO()
    torch.save(state, written)
    with saving(out):
        write_durably(out / NAME, written.getvalue())


def load_checkpoint(
    out: Path, fingerprint: str, model: Any, optimiser: torch.optim.Optimizer, device: torch.device
) -> list[Point]:
    """Bring a run back to where it was and return its curve, which is empty where it had not begun.

    Raises TrainingError for a checkpoint of another run, or one that cannot be read.
    """
    path = out / NAME
    if not path.is_file():
        return []
    try:
        state = torch.load(path, map_location=device, weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, LookupError, pickle.UnpicklingError):
        raise TrainingError(f"{path} cannot be read. Remove it to begin anew.") from None
    if state.get("fingerprint") != fingerprint:
        raise TrainingError(
            f"{path} is of a run on other data, another model or with other numbers. Remove it, or choose"
            " another --out."
        )
    set_peft_model_state_dict(model, state["adapters"])
    optimiser.load_state_dict(state["optimiser"])
    torch.set_rng_state(state["chance"].cpu())
    if state["chance_cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([one.cpu() for one in state["chance_cuda"]])
    return [Point(**point) for point in state["curve"]]
