"""Replayed steps, and the differences of two records in words, for replays of any kind."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from assistant.checking.scores.registry import SCORES
from assistant.records import AssistantError, Evidence, Provenance
from corpus.encoders.base import Encoder

ReplayedStep = Literal[
    "rewrite",
    "retrieve",
    "evidence",
    "write",
    "check",
    "papers",
    "elements",
    "rounds",
    "summary",
    "calls",
    "columns",
]
Outcome = Literal["equal", "different"]

# Scores are sums of many floating-point products, whose order differs between machines.
TOLERANCE = 1e-4
# Fields that depend on the support scorer.
SCORED = frozenset({"support", "needs_citation", "problems", "not_said", *SCORES})
# Fields of papers and sentences that older versions did not record.
_ADDED_LATER = ("aspects", "topics", "references")
_LONGEST_QUOTE = 80


@dataclass(frozen=True, slots=True)
class StepReplay:
    """A replayed step of a turn or of a comparison, and its differences to the record in words."""

    step: ReplayedStep
    outcome: Outcome
    differences: tuple[str, ...] = ()


def step_replay(step: ReplayedStep, faults: Iterable[str]) -> StepReplay:
    """Return a step with its differences; it is equal if there are none."""
    in_words = tuple(faults)
    return StepReplay(step, "different" if in_words else "equal", in_words)


class Replayed:
    """A replayed turn or comparison, with a reason if that was `impossible`."""

    __slots__ = ()
    steps: tuple[StepReplay, ...]
    notes: tuple[str, ...]
    impossible: str

    @property
    def is_equal(self) -> bool:
        return not self.impossible and all(step.outcome != "different" for step in self.steps)


def check_encoder(made: Provenance, encoder: Encoder) -> None:
    """Raise AssistantError if the encoder is not the recorded one, since nothing could be compared."""
    runtime = made.encoder_runtime or encoder.runtime
    if (made.encoder, runtime) != (encoder.name, encoder.runtime):
        raise AssistantError(
            f"It was recorded with the encoder {made.encoder!r} in {runtime}, but here {encoder.name!r} runs "
            f"in {encoder.runtime}. Replay it with PAPER_TRAIL_ENCODER={made.encoder} and "
            f"PAPER_TRAIL_ENCODER_RUNTIME={runtime}, in the PAPER_TRAIL_HOME of its corpus."
        )
    if made.encoder_sha256 != encoder.sha256:
        raise AssistantError(
            f"It was recorded with other weights of the encoder {encoder.name!r} than those installed now. "
            "Install those to replay it."
        )


def evidence_differences(recorded: Evidence, found: Evidence) -> Iterator[str]:
    """Yield the differences of labels, papers or passages, in anything that readers see."""
    # The fingerprint of a paper's file and the indexer's version is not shown to readers.
    return differences(_outline(recorded), _outline(found), skipped={"fingerprint"}, optional=_ADDED_LATER)


def _outline(evidence: Evidence) -> dict[str, Any]:
    return {
        f"[{labelled.label}]": {
            "paper": labelled.paper,
            "passages": {passage.id: passage for passage in labelled.passages},
        }
        for labelled in evidence.papers
    }


def provenance_notes(before: Provenance, now: Provenance) -> Iterator[str]:
    """Yield differences in provenance outside the steps."""
    if before.product != now.product:
        yield f"recorded by {before.product}, replayed by {now.product}"
    if before.scorer != now.scorer:
        was, now_is = before.scorer or "nothing", now.scorer or "nothing"
        yield f"support was scored by {was}, now by {now_is}: these scores are not compared"
    if before.passages and before.passages != now.passages:
        was, now_is = " and ".join(map(str, before.passages)), " and ".join(map(str, now.passages))
        yield f"passages were of {was}, now of {now_is}"
    if before.learned != now.learned:
        was, now_is = ", ".join(before.learned) or "none", ", ".join(now.learned) or "none"
        yield f"learned parts were {was}, now {now_is}"


def differences(
    recorded: Any,
    found: Any,
    at: str = "",
    skipped: Collection[str] = (),
    optional: Collection[str] = (),
) -> Iterator[str]:
    """Yield the differences of two values in words, of numbers if above TOLERANCE.

    Fields of `optional` are compared only if they are recorded.
    """
    if is_dataclass(recorded) and type(recorded) is type(found) and _named(recorded) == _named(found):
        recorded, found = _fields(recorded), _fields(found)
    if isinstance(recorded, tuple) and isinstance(found, tuple):
        recorded, found = _numbered(recorded), _numbered(found)
    if isinstance(recorded, dict) and isinstance(found, dict):
        for name in [*recorded, *(name for name in found if name not in recorded)]:
            before, now = recorded.get(name), found.get(name)
            if name not in skipped and (before or name not in optional):
                place = f"{at}, {name}" if at else str(name)
                yield from differences(before, now, place, skipped, optional)
    elif not _is_the_same(recorded, found):
        yield f"{at}: was {quoted(recorded)}, now {quoted(found)}"


def _named(value: Any) -> Any:
    """Return the id of a paper or a passage, else None; records with different ids are not compared."""
    return getattr(value, "id", None)


def _fields(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _numbered(values: tuple[Any, ...]) -> dict[str, Any]:
    return {str(number): value for number, value in enumerate(values, start=1)}


def _is_the_same(recorded: Any, found: Any) -> bool:
    if isinstance(recorded, float) and isinstance(found, float):
        return abs(recorded - found) <= TOLERANCE
    return bool(recorded == found)


def quoted(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, float):
        return f"{value:.4f}"
    text = repr(_named(value) or value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
