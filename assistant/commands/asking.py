"""The command that asks."""

import textwrap
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from assistant import wording
from assistant.chat import Assistant
from assistant.checking.overlap import CITATION_SCORES
from assistant.checking.scores.registry import SCORES
from assistant.commands.exporting import conversation_text, format_of
from assistant.commands.opening import (
    OWNER,
    Chosen,
    MaxTokens,
    RepetitionPenalty,
    Temperature,
    TopK,
    TopP,
    check_writable,
    chosen_of,
    open_library,
    opened_conversations,
    stored_conversation,
    write_file,
)
from assistant.commands.printing import JsonOption, err, failing, out, print_json, say, warn
from assistant.generators.choice import open_generator
from assistant.generators.parameters import default_parameters
from assistant.generators.protocol import EXTRACTIVE
from assistant.models.menu import available_models
from assistant.records import (
    Answer,
    Answered,
    AnswerSentence,
    AskOptions,
    AssistantError,
    Checking,
    Citation,
    Conversation,
    Evidence,
    Parameters,
    Refusal,
    RequestKind,
    Retrieved,
    Rewritten,
    Turn,
)
from assistant.serving.documents import maybe_rounded, rounded_scores
from corpus.records import Scope
from corpus.search.hybrid import DEFAULT_PAPERS
from corpus.settings import Settings
from corpus.wording import counted, joined

NEW = "new"
# The formats that hold the whole trail and read as text.
_TRAIL_ENDINGS = (".json", ".md", ".html")
_ENDINGS = joined(_TRAIL_ENDINGS, "or")


def ask(
    question: str,
    *,
    collection: Annotated[list[str] | None, typer.Option(help="Search only this collection.")] = None,
    paper: Annotated[list[str] | None, typer.Option(help="Search only this paper, by its id.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Search only papers with this label.")] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Search only papers in this language, such as de.")
    ] = None,
    papers: Annotated[int, typer.Option(help="How many papers to answer from, 1 to 15.")] = DEFAULT_PAPERS,
    query: Annotated[str, typer.Option(help="Search for this instead of what is made of the question.")] = "",
    kind: Annotated[RequestKind | None, typer.Option(help="What is asked for; else read from it.")] = None,
    conversation: Annotated[
        str | None, typer.Option(help="Go on with this stored conversation, or 'new' to begin one.")
    ] = None,
    generator: Annotated[str, typer.Option(help="What writes: extractive, or a model's id.")] = EXTRACTIVE,
    drafts: Annotated[int, typer.Option(help="Have so many drafts written and keep the best cited.")] = 1,
    temperature: Temperature = None,
    top_p: TopP = None,
    top_k: TopK = None,
    max_tokens: MaxTokens = None,
    repetition_penalty: RepetitionPenalty = None,
    trail: Annotated[
        Path | None, typer.Option(help=f"Write the whole trail to this file, {_ENDINGS}.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the corpus, every sentence cited and scored."""
    scope = Scope(
        collections=tuple(collection or ()),
        papers=tuple(paper or ()),
        languages=tuple(language or ()),
        labels=tuple(label or ()),
    )
    options = AskOptions(scope, papers, query, kind, drafts)
    chosen = chosen_of(temperature, top_p, top_k, max_tokens, repetition_penalty)
    with failing(as_json=as_json):
        if trail:
            if trail.suffix.lower() not in _TRAIL_ENDINGS:
                raise AssistantError(
                    f"The trail is written as {_ENDINGS}, not as {trail.suffix or trail.name!r}."
                )
            check_writable(trail)
        earlier = _earlier(conversation)
        turn, loading = _answer(question, earlier.turns, options, generator, chosen, quiet=as_json)
    done = turn_json(turn, loading)
    if not as_json:
        if turn.answer.refusal:
            _print_refusal(turn.answer.refusal)
        else:
            out.print(f"\n{turn.answer.text}\n", markup=False)
            print_references(turn.answer, turn.evidence)
        _print_checks(turn)
    with failing(as_json=as_json, done=done):
        if trail:
            whole = replace(earlier, title=earlier.title or turn.question, turns=(*earlier.turns, turn))
            write_file(trail, conversation_text(whole, format_of(trail)))
        if conversation:
            done["conversation"] = _keep(conversation, turn)
    if as_json:
        print_json(done)
    elif conversation == NEW:
        say(f"Kept as conversation {done['conversation']}.")


def _earlier(conversation: str | None) -> Conversation:
    """Return the conversation to continue; raises AssistantError if there is none of that id."""
    if conversation in (None, NEW):
        return Conversation(OWNER, "")
    if not conversation:
        raise AssistantError(
            "--conversation was given no id. Give one, 'new' to begin a conversation, or leave it out."
        )
    if stored := stored_conversation(conversation):
        return stored
    raise AssistantError(
        f"There is no conversation {conversation!r}. List them with: paper-trail conversations "
        "list, or begin one with --conversation new."
    )


def _keep(conversation: str, turn: Turn) -> str:
    """Add a turn to its conversation, created if new, and return the conversation's id."""
    with opened_conversations() as store:
        if conversation == NEW:
            conversation = store.start(OWNER, turn.question).id
        store.add_turn(conversation, turn)
    return conversation


def _answer(
    question: str,
    history: tuple[Turn, ...],
    options: AskOptions,
    generator: str,
    chosen: Chosen,
    *,
    quiet: bool,
) -> tuple[Turn, float]:
    """Return the answered turn, and the seconds spent on loading corpus and encoder."""
    library = open_library()
    parameters = chosen_parameters(library.settings, generator, chosen)
    writer = open_generator(generator, library.settings, library.encoder, parameters)
    assistant = Assistant(library.corpus, library.encoder, writer)
    # A spinner, in a terminal only: a local server may read a prompt for minutes.
    with err.status("Searching") as waiting:
        for event in assistant.ask(question, history, options):
            match event:
                case Rewritten(rewrite) if not quiet:
                    say(f"Searched for: {rewrite.searched_for}")
                case Retrieved(found, second_searches):
                    for second in second_searches if not quiet else ():
                        say(wording.searched_again(second))
                    passages = sum(len(paper.hits) for paper in found)
                    if not quiet:
                        say(f"Found {counted(len(found), 'paper')}, {counted(passages, 'passage')}")
                    waiting.update(escape(f"{writer.label} reads and writes"))
                case Checking():
                    waiting.update("Checking")
                case Answered(turn):
                    return turn, library.loading
    raise AssistantError("The answer was not completed. Ask again.")


def chosen_parameters(settings: Settings, generator: str, chosen: Chosen) -> Parameters | None:
    """Return the default parameters with the chosen ones, None if none were chosen."""
    changes = {name: value for name, value in chosen.items() if value is not None}
    entry = next((entry for entry in available_models(settings) if entry.id == generator), None)
    defaults = default_parameters(settings, entry) if entry else Parameters()
    return replace(defaults, **changes) if changes else None


def turn_json(turn: Turn, loading: float) -> dict[str, Any]:
    """Return a turn as the terminal's JSON; `loading` is the seconds spent on loading corpus and encoder."""
    answer = turn.answer
    return {
        "question": turn.question,
        "search_query": turn.rewrite.search_query,
        "kind": turn.rewrite.kind,
        "second_searches": [
            {"part": second.part, "query": second.query, "joined": list(second.joined)}
            for second in turn.second_searches
        ],
        "papers": [
            {"id": item.paper.id, "label": item.label, "title": item.paper.title}
            for item in turn.evidence.papers
        ],
        "answer": answer.text,
        "sentences": [sentence_json(answer, item) for item in answer.sentences],
        **{name: getattr(answer, name) for name in SCORES},
        "problems": list(answer.problems),
        "not_carried": list(answer.not_carried),
        "stands_in_for": answer.stands_in_for,
        "remark": answer.remark,
        "refusal": answer.refusal and _refusal_json(answer.refusal),
        "usage": asdict(turn.usage),
        "seconds": {"load": round(loading, 4)} | {step.step: round(step.seconds, 4) for step in turn.seconds},
    }


def sentence_json(answer: Answer, sentence: AnswerSentence) -> dict[str, Any]:
    """Return a sentence with its citations and their scores."""
    return {
        "text": answer.text[sentence.start : sentence.end].strip(),
        "labels": list(sentence.labels),
        "unknown_labels": list(sentence.unknown_labels),
        "needs_citation": sentence.needs_citation,
        "support": maybe_rounded(sentence.support),
        "citations": [_citation_json(citation) for citation in sentence.citations],
        "better": sentence.better and _citation_json(sentence.better),
        "not_said": list(sentence.not_said),
    }


def _citation_json(citation: Citation) -> dict[str, Any]:
    return {
        "label": citation.label,
        "passage": citation.passage_id,
        "evidence": citation.evidence,
        "found": citation.found,
        **rounded_scores(citation, CITATION_SCORES),
    }


def _refusal_json(refusal: Refusal) -> dict[str, Any]:
    return {
        "reason": refusal.reason,
        "message": refusal.message,
        "nearest": [
            {"passage": item.passage_id, "paper": item.paper_id, "title": item.title, "text": item.text}
            for item in refusal.nearest
        ],
        "covers": list(refusal.covers),
    }


def print_references(answer: Answer, evidence: Evidence) -> None:
    """Print the papers that an answer cites, each with the lowest scores of its citations."""
    for label in answer.cited_labels:
        if labelled := evidence.paper(label):
            scores = ", ".join(
                wording.describe_score(name, _lowest(answer, label, name)) for name in CITATION_SCORES
            )
            title, identifier = escape(labelled.paper.title), escape(labelled.paper.id)
            out.print(f"\\[{label}] {title} [dim]{identifier}, {scores}[/dim]")


def _print_refusal(refusal: Refusal) -> None:
    out.print(refusal.message, markup=False)
    if refusal.reason == "which_paper":
        for nearest in refusal.nearest:
            out.print(f"  --paper {escape(nearest.paper_id)}  [bold]{escape(nearest.title)}[/bold]")
        return
    for line in refusal.covers:
        out.print(f"  covers: {line}", markup=False)
    for nearest in refusal.nearest:
        out.print(f"\n  near: [bold]{escape(nearest.title)}[/bold]")
        out.print(f"  {textwrap.shorten(nearest.text, 300, placeholder=' …')}", markup=False)


def _lowest(answer: Answer, label: int, score: str) -> float | None:
    """Return the lowest score of a paper's citations, None if none was measured."""
    citations = (
        citation
        for sentence in answer.sentences
        for citation in sentence.citations
        if citation.label == label
    )
    scores = [getattr(citation, score) for citation in citations]
    return min((value for value in scores if value is not None), default=None)


def _print_checks(turn: Turn) -> None:
    """Print the problems of the draft, the quality of its citations, and its cost."""
    answer = turn.answer
    for notice in wording.notices(answer):
        warn(notice)
    if uncited := sum(sentence.needs_citation for sentence in answer.sentences):
        warn(f"Sentences that make a claim and cite nothing: {uncited}")
    seconds = f"{sum(step.seconds for step in turn.seconds):.1f} s"
    usage = turn.usage
    spent = wording.spent(usage.prompt_tokens, usage.completion_tokens, usage.price)
    writer = f"{turn.provenance.generator}{wording.served_by(turn.calls)}"
    facts = [writer, seconds, *spent, wording.checked(answer)]
    say(", ".join(fact for fact in facts if fact))
