"""The command that does a recorded conversation again."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from assistant.commands.opening import corpus_at, find_conversation, open_library
from assistant.commands.printing import JsonOption, fail, out, print_json
from assistant.generators.choice import open_generator
from assistant.generators.protocol import Generator
from assistant.records import AssistantError, Turn
from assistant.replay import Replayer, TurnReplay
from assistant.wording import counted
from corpus.errors import CorpusError
from corpus.text import storable

EQUAL, DIFFERENT, IMPOSSIBLE = 0, 1, 2
_DIFFERENCES_SHOWN = 12
_STYLES = {"equal": "green", "different": "red"}


def replay(
    source: Annotated[str, typer.Argument(help="A transcript's file, or the id of a stored conversation.")],
    *,
    generate: Annotated[
        bool, typer.Option("--generate", help="Ask the generators again, instead of their recorded replies.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Do a recorded conversation again on the corpus as it was, and say what is equal and what is not.

    The status is 0 when all is equal, 1 when something differs, 2 when it could not be done.
    """
    turns: list[TurnReplay] = []
    try:
        conversation = find_conversation(source)
        if not conversation.turns:
            raise AssistantError(f"There is nothing to replay: {source!r} holds no turns.")
        for turn in _replayer(generate=generate).replay(conversation):
            turns.append(turn)
            if not as_json:
                _print_turn(turn)
    except (AssistantError, CorpusError) as error:
        fail(error, as_json)
    if as_json:
        print_json(_document(conversation.title, turns))
    else:
        equal = sum(turn.is_equal for turn in turns)
        verb = "is" if 1 in (equal, len(turns)) else "are"
        out.print(f"\n{equal} of {counted(len(turns), 'turn')} {verb} equal.", markup=False)
    raise typer.Exit(_status(turns))


def _replayer(*, generate: bool) -> Replayer:
    library = open_library()
    settings, encoder = library.settings, library.encoder

    def asked_again(turn: Turn) -> Generator:
        written = next((call.parameters for call in turn.calls if call.step == "write"), None)
        return open_generator(turn.provenance.generator, settings, encoder, written)

    return Replayer(encoder, corpus_at(library), asked_again if generate else None)


def _status(turns: list[TurnReplay]) -> int:
    if any(turn.impossible for turn in turns):
        return IMPOSSIBLE
    return EQUAL if all(turn.is_equal for turn in turns) else DIFFERENT


def _document(title: str, turns: list[TurnReplay]) -> dict[str, Any]:
    return {
        "title": title,
        "equal": all(turn.is_equal for turn in turns),
        "turns": [{**asdict(turn), "equal": turn.is_equal} for turn in turns],
    }


def _print_turn(turn: TurnReplay) -> None:
    _print_line(f"\n{turn.number}. {turn.question}", "bold")
    if turn.impossible:
        _print_line(f"   cannot be replayed: {turn.impossible}", "red")
    for step in turn.steps:
        _print_line(f"   {step.step:<9} {step.outcome}", _STYLES[step.outcome])
        for difference in step.differences[:_DIFFERENCES_SHOWN]:
            _print_line(f"             {difference}")
        if len(step.differences) > _DIFFERENCES_SHOWN:
            _print_line(f"             and {len(step.differences) - _DIFFERENCES_SHOWN} more")
    for note in turn.notes:
        _print_line(f"   ({note})", "dim")


def _print_line(text: str, style: str = "") -> None:
    # A transcript may come from anybody: nothing in it may act on the terminal.
    out.print(storable(text), style=style, markup=False, soft_wrap=True)
