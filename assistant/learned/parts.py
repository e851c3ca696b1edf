"""A learned part on disk: its weights and its card, both written by `paper-trail train`.

The weights are differences to the bundled encoder's matrices (LoRA, Hu et al. 2021, equation 3), to which
they are added when a part is first used.
"""

import hashlib
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from corpus.encoders.base import BUNDLED_SHA256
from corpus.encoders.pairs import PairNetwork, bundled_weights
from corpus.errors import CorpusError
from corpus.settings import read_settings

logger = logging.getLogger(__name__)

AnyCard = TypeVar("AnyCard", bound=BaseModel)
SHIPPED = Path(__file__).with_name("weights")
DOWN, UP = ".down", ".up"
HEAD = ("head.weight", "head.bias")
_opening = threading.Lock()


class LearnedError(CorpusError):
    """A learned part cannot be used; the message says why."""


class Card(BaseModel):
    """The card of a learned part: its name, the encoder it fits, its scales and provenance.

    `provenance` holds its training data with licences, and the figures measured then.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    trunk_sha256: str
    weights_sha256: str
    longest: int
    scales: Mapping[str, Mapping[str, float]]
    provenance: Mapping[str, object]


def read_card(part: str, weights: Path) -> Card:
    """Return the card of a part in a folder; raises LearnedError."""
    return read_card_as(Card, weights / f"{part}.json")


def read_card_as(form: type[AnyCard], path: Path) -> AnyCard:
    """Return a card read as a model class; raises LearnedError."""
    try:
        return form.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LearnedError(f"The learned part {path} cannot be read: {error.strerror}.") from error
    except (ValidationError, UnicodeDecodeError) as error:
        raise LearnedError(f"{path} is not the card of a learned part.") from error


def folder(part: str) -> Path:
    """Return the folder of a learned part: that of the settings if it has the part, else the bundled one."""
    custom = read_settings().learned
    return custom if custom and (custom / f"{part}.json").exists() else SHIPPED


@dataclass(frozen=True, slots=True)
class PartInUse:
    """The name of a learned part, and the problem if it cannot be used."""

    name: str
    problem: str = ""

    def __str__(self) -> str:
        return f"{self.name}, not used" if self.problem else self.name


def part_in_use(part: str) -> PartInUse:
    """Return the name and problem of a part without opening it."""
    return _in_use(part, folder(part))


@cache
def _in_use(part: str, weights: Path) -> PartInUse:
    try:
        card = read_card(part, weights)
    except LearnedError as error:
        return PartInUse(part, str(error))
    try:
        _fitting(part, card, weights)
    except LearnedError as error:
        return PartInUse(card.name, str(error))
    return PartInUse(card.name)


@dataclass(frozen=True, slots=True)
class LearnedPart:
    """A part that scores pairs of texts: its card, and its network, None if that does not fit.

    Safe to share between threads.
    """

    card: Card
    network: PairNetwork | None

    @property
    def name(self) -> str:
        return self.card.name if self.network else f"{self.card.name} without its network"

    def scale(self, of: str = "", *, read: bool = True) -> Mapping[str, float]:
        """Return the weight of each feature, with the network or without; raises LearnedError.

        `of` names another scale than that of single texts; `read` is False if the network's score is missing.
        """
        name = "_".join(filter(None, (of, "all" if self.network and read else "features")))
        try:
            return self.card.scales[name]
        except KeyError:
            raise LearnedError(f"The card of {self.card.name} has no scale {name!r}.") from None

    def numbers(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the network's score of each pair of texts, [] without a network."""
        return [float(number) for number in self.network.read(pairs)[:, 0]] if self.network and pairs else []


def read_part(part: str, weights: Path, *, per_token: bool = False) -> tuple[Card, PairNetwork]:
    """Return the card of a part and its network, merged from its weights and the bundled encoder's.

    Raises LearnedError without a card, or if the weights do not match the card or the encoder.
    """
    card = read_card(part, weights)
    learned = _fitting(part, card, weights)
    merged = bundled_weights()
    for name in sorted({name.removesuffix(UP) for name in learned if name.endswith(UP)}):
        merged[f"{name}.weight"] = merged[f"{name}.weight"] + learned[name + UP] @ learned[name + DOWN]
    merged |= {name: learned[name] for name in HEAD}
    return card, PairNetwork(merged, card.longest, per_token=per_token)


def open_part(part: str) -> LearnedPart:
    """Return a part, without its network if that does not fit.

    Raises LearnedError if it has no card, or one without scales.
    """
    with _opening:
        return _opened(part, folder(part))


@cache
def _opened(part: str, weights: Path) -> LearnedPart:
    try:
        opened = LearnedPart(*read_part(part, weights))
    except LearnedError as error:
        logger.warning("%s is told without its network: %s", part, error)
        opened = LearnedPart(read_card(part, weights), None)
    opened.scale()
    return opened


def _fitting(part: str, card: Card, weights: Path) -> dict[str, NDArray[np.float32]]:
    if card.trunk_sha256 != BUNDLED_SHA256:
        raise LearnedError(f"The learned part {card.name} was made for another encoder than the bundled one.")
    return _learned(weights / f"{part}.safetensors", card)


def _learned(path: Path, card: Card) -> dict[str, NDArray[np.float32]]:
    from safetensors import SafetensorError  # noqa: PLC0415 - only where a part is used
    from safetensors.numpy import load  # noqa: PLC0415

    try:
        held = path.read_bytes()
        if hashlib.sha256(held).hexdigest() != card.weights_sha256:
            raise LearnedError(f"The weights in {path} are not those of their card.")
        return {name: value.astype(np.float32) for name, value in load(held).items()}
    except (OSError, SafetensorError) as error:
        raise LearnedError(f"The weights in {path} cannot be read: {error}") from error
