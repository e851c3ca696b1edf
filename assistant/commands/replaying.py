"""The command that does a recorded conversation or comparison again."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from assistant.commands.opening import corpus_at, find_trail, open_library
from assistant.commands.printing import JsonOption, failing, print_json, show
from assistant.comparing.records import Comparison
from assistant.generators.choice import open_generator
from assistant.generators.protocol import Generator
from assistant.records import AssistantError, Conversation, Turn
from assistant.storage.owned import tidy_title
from assistant.trail.comparison_replay import replay_comparison
from assistant.trail.replay import Replayer, TurnReplay
from assistant.trail.replayed_steps import Replayed
from corpus.wording import counted

EQUAL, DIFFERENT, IMPOSSIBLE = 0, 1, 2
_DIFFERENCES_SHOWN = 12
_STYLES = {"equal": "green", "different": "red"}


def replay(
    source: Annotated[str, typer.Argument(help="A file, or the id, of a conversation or of a comparison.")],
    *,
    generate: Annotated[
        bool,
        typer.Option(
            "--generate",
            help="Of a conversation: ask the generators again, instead of their recorded replies.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Do a recorded conversation or comparison again on the corpus as it was, and say what is equal.

    The status is 0 when all is equal, 1 when something differs, 2 when it could not be done.
    """
    with failing(as_json=as_json):
        trail = find_trail(source)
        if isinstance(trail, Comparison):
            status = _replay_comparison(trail, generate=generate, as_json=as_json)
        else:
            status = _replay_conversation(trail, source, generate=generate, as_json=as_json)
    raise typer.Exit(status)


def _replay_conversation(conversation: Conversation, source: str, *, generate: bool, as_json: bool) -> int:
    if not conversation.turns:
        raise AssistantError(f"There is nothing to replay: {source!r} holds no turns.")
    turns: list[TurnReplay] = []
    for turn in _replayer(generate=generate).replay(conversation):
        turns.append(turn)
        if not as_json:
            _print_replay(f"{turn.number}. {turn.question}", turn)
    if as_json:
        print_json(
            {
                "title": conversation.title,
                "equal": all(turn.is_equal for turn in turns),
                "turns": [{**asdict(turn), "equal": turn.is_equal} for turn in turns],
            }
        )
    else:
        equal = sum(turn.is_equal for turn in turns)
        verb = "is" if 1 in (equal, len(turns)) else "are"
        show(f"\n{equal} of {counted(len(turns), 'turn')} {verb} equal.")
    return _status(turns)


def _replay_comparison(comparison: Comparison, *, generate: bool, as_json: bool) -> int:
    if generate:
        raise AssistantError(
            "A comparison is replayed with its recorded replies; --generate is for conversations. To have it "
            "written again, begin it anew: paper-trail compare --help"
        )
    library = open_library()
    replayed = replay_comparison(comparison, library.encoder, corpus_at(library))
    if as_json:
        print_json({**asdict(replayed), "equal": replayed.is_equal})
    else:
        _print_replay(tidy_title(replayed.about), replayed)
        if not replayed.impossible:
            verdict = "The comparison is equal." if replayed.is_equal else "The comparison is not equal."
            show(f"\n{verdict}")
    return _status([replayed])


def _replayer(*, generate: bool) -> Replayer:
    library = open_library()
    settings, encoder = library.settings, library.encoder

    def asked_again(turn: Turn) -> Generator:
        written = next((call.parameters for call in turn.calls if call.step == "write"), None)
        return open_generator(turn.provenance.generator, settings, encoder, written)

    return Replayer(encoder, corpus_at(library), asked_again if generate else None)


def _status(found: Sequence[Replayed]) -> int:
    if any(replayed.impossible for replayed in found):
        return IMPOSSIBLE
    return EQUAL if all(replayed.is_equal for replayed in found) else DIFFERENT


def _print_replay(heading: str, found: Replayed) -> None:
    show(f"\n{heading}", "bold")
    if found.impossible:
        show(f"   cannot be replayed: {found.impossible}", "red")
    for step in found.steps:
        show(f"   {step.step:<9} {step.outcome}", _STYLES[step.outcome])
        for difference in step.differences[:_DIFFERENCES_SHOWN]:
            show(f"             {difference}")
        if len(step.differences) > _DIFFERENCES_SHOWN:
            show(f"             and {len(step.differences) - _DIFFERENCES_SHOWN} more")
    for note in found.notes:
        show(f"   ({note})", "dim")
