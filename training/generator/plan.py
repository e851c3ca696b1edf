"""What is to be trained on what, and how."""

from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GeneratorPlan:
    """The parameters of one training run; the defaults are TruthReader's where it names them.

    `length` is in tokens; of rows so long, `rows_per_step` make a step, after each `checkpoint_every` of
    which what is needed to go on is kept. `rank` and `dropout` are LoRA's; its scale is twice the rank.
    """

    data: Path
    model: str
    out: Path
    epochs: int = 2
    learning_rate: float = 1e-5
    length: int = 4096
    seed: int = 0
    rank: int = 16
    dropout: float = 0.05
    rows_per_step: int = 4
    checkpoint_every: int = 20

    @property
    def numbers(self) -> dict[str, object]:
        """What the weights depend on, beside data and model."""
        left_out = ("data", "model", "out", "checkpoint_every")
        return {name: value for name, value in asdict(self).items() if name not in left_out}
