"""JSON looked for in what a model has replied, as SciRIFF's authors look for it."""

import json
from dataclasses import dataclass
from typing import Literal

Nothing = list[object] | dict[str, object]
How = Literal["whole", "null", "within", "nowhere"]
_BRACKETS = {list: ("[", "]"), dict: ("{", "}")}


@dataclass(frozen=True, slots=True)
class FoundJson:
    """What was found in a reply: the `whole` of it, what stands `within` it, `null`, or it is `nowhere`."""

    value: object
    how: How


def find_json(text: str, nothing: Nothing, *, array_may_end_as_object: bool = False) -> FoundJson:
    """Return the JSON of a reply, `nothing` where it has none or is null.

    A reply that is JSON as a whole is taken whatever it holds. Of any other the first piece counts that
    parses, from an opening bracket, of the kind `nothing` has, to the one that closes it. Brackets are
    counted wherever they stand, in strings too: the authors do so, and what they found could else not be
    compared. `array_may_end_as_object` takes "}" at the very end as "]", their one repair.
    """
    if array_may_end_as_object and text.strip().endswith("}"):
        text = f"{text.strip()[:-1]}]"
    whole = _parsed(text)
    if whole is not None:
        value = whole[0]
        return FoundJson(nothing, "null") if value in (None, "null") else FoundJson(value, "whole")
    opening, closing = _BRACKETS[type(nothing)]
    depth, start = 0, -1
    for place, character in enumerate(text):
        if character == opening:
            start = place if depth == 0 else start
            depth += 1
        elif character == closing:
            depth -= 1
            if depth == 0 and start >= 0:
                if found := _parsed(text[start : place + 1]):
                    return FoundJson(found[0], "within")
                start = -1
    return FoundJson(nothing, "nowhere")


def _parsed(text: str) -> tuple[object] | None:
    """Return what a text says as JSON, alone in a tuple, None where it is no JSON."""
    try:
        return (json.loads(text),)
    # A number too long, and brackets too deep, are no reply.
    except (ValueError, RecursionError):
        return None
