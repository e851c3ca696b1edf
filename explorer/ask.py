"""The Ask screen: scope, conversation, the answer being written, and the evidence beside it."""

from dataclasses import dataclass

import streamlit as st

from assistant.records import AskOptions, AssistantError
from corpus.records import Scope
from corpus.search import DEFAULT_PAPERS, MAX_PAPERS, MIN_PAPERS
from explorer.answers import draw_failure, draw_running, draw_turn
from explorer.evidence import render_evidence
from explorer.parts.coverage import asked_about, collections_in, covered, names_papers
from explorer.parts.examples import Example, example_questions
from explorer.parts.jobs import JobView, may_succeed_again
from explorer.parts.safe_text import escaped, shortened
from explorer.parts.score_bar import meaning
from explorer.parts.topics import topic_label
from explorer.parts.wording import collection_facts, collection_titles, counted, years_said
from explorer.reader import Failure, Reader
from explorer.resources import Library, jobs

POLL_SECONDS = 0.2
# More than the assistant takes: its refusal says what is wrong, where the box would just not send.
LONGEST_TYPED = 20_000
# The key of the years among topics, none of which is called so: theirs have a colon.
YEARS = "years"
STOPPED = "Stopped. Nothing of this question was kept in the conversation."


@dataclass(frozen=True, slots=True)
class Choices:
    """What is chosen above the conversation."""

    options: AskOptions
    writer: str


def render_ask(library: Library, reader: Reader) -> None:
    """Draw the Ask screen."""
    settle(reader)
    choices = _draw_choices(library, reader)
    if reader.waiting_question:
        start(library, reader, choices)
    wide = bool(reader.turns or reader.job_id or reader.failure)
    talk, side = st.columns([0.58, 0.42], gap="large") if wide else (st.container(), st.container())
    with talk:
        _draw_conversation(library, reader, choices.options.scope)
    with side:
        render_evidence(library, reader)
    with st.bottom:
        st.chat_input(
            "Answering your question …"
            if reader.job_id
            else shortened(asked_about(library.corpus, choices.options.scope), 90),
            key="question_box",
            max_chars=LONGEST_TYPED,
            disabled=bool(reader.job_id),
            on_submit=_take_question,
            args=(reader,),
        )


def start(library: Library, reader: Reader, choices: Choices) -> None:
    """Give the waiting question to a worker; when that fails, keep it with the reason."""
    question, reader.waiting_question = reader.waiting_question, ""
    reader.failure, reader.focus, reader.drawer_open = None, None, False
    try:
        assistant = library.assistant(choices.writer)
        reader.job_id = jobs().start(assistant, question, reader.turns, choices.options)
    except AssistantError as error:
        reader.failure = Failure(question, str(error), can_retry=may_succeed_again(error))


def settle(reader: Reader) -> bool:
    """Take a finished question out of its job: a whole turn, or a failure that keeps the question."""
    if not reader.job_id:
        return False
    job = jobs().get(reader.job_id)
    if job is None:
        reader.job_id = ""
        reader.failure = Failure("", "The question was lost: the server no longer knows it. Ask it again.")
        return True
    view = job.view()
    if not view.is_over:
        return False
    reader.job_id = ""
    if view.turn:
        reader.turns = (*reader.turns, view.turn)
    else:
        reader.failure = failure_of(view)
    return True


def failure_of(view: JobView) -> Failure:
    """Return what to say about a question that was stopped or failed."""
    if view.state == "stopped":
        return Failure(view.question, STOPPED, view.text)
    return Failure(view.question, view.error, view.text, can_retry=view.can_retry)


def stop(reader: Reader) -> None:
    """Stop the question on its way; its worker ends by itself."""
    if job := jobs().get(reader.job_id):
        job.stop()
        view = job.view()
        reader.failure = Failure(view.question, STOPPED, view.text)
    reader.job_id = ""


def _take_question(reader: Reader) -> None:
    reader.waiting_question = str(st.session_state.get("question_box") or "")


def _draw_choices(library: Library, reader: Reader) -> Choices:
    writers = library.writers()
    with st.container(key="choices"):
        if reader.narrow:
            # Not a popover: what is in a closed one is forgotten when a question sets it.
            with st.expander("Where to look", icon=":material/tune:", key="choices_folded"):
                scope = _draw_scope(library, reader)
                number = _draw_number()
                writer = _draw_writer([(one.name, one.label) for one in writers])
        else:
            places, count, menu = st.columns([0.54, 0.22, 0.24], gap="medium", vertical_alignment="bottom")
            with places:
                scope = _draw_scope(library, reader)
            with count:
                number = _draw_number()
            with menu:
                writer = _draw_writer([(one.name, one.label) for one in writers])
    return Choices(AskOptions(scope, number), writer)


def _draw_scope(library: Library, reader: Reader) -> Scope:
    """Draw the chips of collections, of chosen papers and of a filter; return what is left of them."""
    titles = collection_titles(library.corpus.collections())
    chosen = st.multiselect(
        "Look in",
        list(titles),
        format_func=lambda one: titles.get(one, one),
        placeholder="All collections",
        key="scope_collections",
        persist_state="session",
    )
    papers = _draw_papers_scope(library, reader) if reader.asked_about else ()
    within = _draw_filter_scope(reader) if names_papers(reader.asked_within) else Scope()
    return Scope(tuple(chosen), papers, within.years, within.topics)


def _draw_papers_scope(library: Library, reader: Reader) -> tuple[str, ...]:
    names = {
        paper.id: shortened(paper.title, 60) for paper in library.corpus.papers_by_id(reader.asked_about)
    }
    if "scope_papers" not in st.session_state:
        st.session_state["scope_papers"] = list(names)
    papers = st.multiselect(
        "Only these papers",
        list(names),
        format_func=lambda one: names.get(one, one),
        placeholder="All papers again",
        key="scope_papers",
        persist_state="session",
    )
    return tuple(papers)


def _draw_filter_scope(reader: Reader) -> Scope:
    """Draw the filter that was brought along from a collection; return what is left of it."""
    within = reader.asked_within
    labels = filter_labels(within)
    if "scope_filter" not in st.session_state:
        st.session_state["scope_filter"] = list(labels)
    left = st.multiselect(
        "Only papers with",
        list(labels),
        format_func=lambda one: labels.get(one, one),
        placeholder="All papers again",
        key="scope_filter",
        persist_state="session",
    )
    return Scope(
        years=within.years if YEARS in left else None,
        topics=tuple(topic for topic in within.topics if topic in left),
    )


def filter_labels(within: Scope) -> dict[str, str]:
    """Return what a scope's topics and years are called, by the key that each is chosen by."""
    labels = {topic: topic_label(topic) for topic in within.topics}
    return labels | {YEARS: f"Year: {years_said(within.years)}"} if within.years else labels


def _draw_number() -> int:
    number = st.slider(
        "Papers to read",
        MIN_PAPERS,
        MAX_PAPERS,
        DEFAULT_PAPERS,
        key="papers_wanted",
        persist_state="session",
        help="How many of the best papers the answer may draw on.",
    )
    return int(number)


def _draw_writer(writers: list[tuple[str, str]]) -> str:
    """Draw the menu of writers where there is a choice; return the chosen one's name."""
    labels = dict(writers)
    if len(writers) == 1:
        st.caption(f"Written by: {escaped(writers[0][1])}")
        return writers[0][0]
    chosen = st.selectbox(
        "Written by",
        list(labels),
        format_func=lambda name: labels.get(name, name),
        key="writer",
        persist_state="session",
    )
    return str(chosen)


def _draw_conversation(library: Library, reader: Reader, scope: Scope) -> None:
    last = len(reader.turns) if not reader.job_id else 0
    for number, turn in enumerate(reader.turns, start=1):
        with st.container(key=_place(number, is_latest=number == last)):
            draw_turn(library, reader, number, turn, is_last=number == last)
    if reader.job_id:
        with st.container(key=_place(len(reader.turns) + 1, is_latest=True)):
            st.fragment(_draw_live, run_every=POLL_SECONDS)(reader)
    elif reader.failure:
        draw_failure(reader, reader.failure)
    elif not reader.turns:
        _draw_first_visit(library, reader, scope)


def _place(number: int, *, is_latest: bool) -> str:
    """Return the key of a turn's container; a later turn that is the latest gets room to be scrolled up."""
    return f"latest_{number}" if is_latest and number > 1 else f"turn_{number}"


def _draw_live(reader: Reader) -> None:
    """Draw the question on its way; when it is answered or has been stopped, draw the whole screen anew."""
    if settle(reader) or not reader.job_id:
        st.rerun()
    if job := jobs().get(reader.job_id):
        draw_running(job.view(), len(reader.turns) + 1)
    st.button("Stop", key="stop", icon=":material/stop_circle:", on_click=stop, args=(reader,))


def _draw_first_visit(library: Library, reader: Reader, scope: Scope) -> None:
    with st.container(key="reading_first_visit"):
        if names_papers(scope):
            _draw_papers_asked(library, scope)
        else:
            _draw_first_questions(library, reader, scope)
        st.caption(meaning())


def _draw_papers_asked(library: Library, scope: Scope) -> None:
    """Say which papers are asked; questions about other papers would not be answered from them."""
    st.title(escaped(asked_about(library.corpus, scope)), anchor=False)
    titles = covered(library.corpus, scope)
    if len(titles) > 1:
        st.markdown("\n".join(f"- {escaped(title)}" for title in titles))
    st.markdown("Every sentence of an answer leads to the passage that carries it.")


def _draw_first_questions(library: Library, reader: Reader, scope: Scope) -> None:
    summaries = collections_in(library.corpus.collections(), scope)
    st.title("Ask the papers", anchor=False)
    st.markdown(
        f"Every sentence of an answer leads to the passage that carries it. "
        f"{escaped(collection_facts(summaries))}."
    )
    examples = example_questions(library.corpus, [one.collection.id for one in summaries])
    if examples:
        st.markdown("Some questions to begin with:")
        draw_examples(reader, examples, scope.collections)


def draw_examples(reader: Reader, examples: tuple[Example, ...], within: tuple[str, ...]) -> None:
    """Draw questions that are asked with one click, in the collections `within` (none: in all)."""
    with st.container(key="examples"):
        for number, example in enumerate(examples, start=1):
            st.button(
                escaped(example.question),
                key=f"example_{number}",
                icon=":material/arrow_forward:",
                type="tertiary",
                on_click=ask_example,
                args=(reader, example, within),
            )


def ask_example(reader: Reader, example: Example, within: tuple[str, ...]) -> None:
    """Ask an example where it belongs, whatever papers were asked about before."""
    reader.waiting_question = example.question
    reader.asked_about, reader.asked_within = (), Scope()
    st.session_state["scope_collections"] = [example.collection] if example.collection else list(within)


def ask_about(reader: Reader, paper_ids: tuple[str, ...]) -> None:
    """Restrict the next questions to some papers."""
    reader.asked_about, reader.asked_within = paper_ids, Scope()
    st.session_state["scope_papers"] = list(paper_ids)
    st.session_state["scope_collections"] = []


def ask_within(reader: Reader, scope: Scope) -> None:
    """Restrict the next questions to the papers that a filter lists."""
    reader.asked_about, reader.asked_within = (), scope
    st.session_state["scope_filter"] = list(filter_labels(scope))
    st.session_state["scope_collections"] = list(scope.collections)


def papers_picked(reader: Reader) -> str:
    return f"{counted(len(reader.picked), 'paper')} selected"
