"""The choices of a comparison: the papers, the description of the work, and the writer."""

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from assistant.bounds import LONGEST_COLUMN, LONGEST_DESCRIPTION, MOST_COLUMNS
from assistant.comparing.admission import FEWEST_PAPERS, MOST_KEPT, MOST_PAPERS, MOST_SAMPLES, MOST_VOTES
from assistant.comparing.records import ComparisonOptions, ComparisonRequest, PaperOrder, Planned
from assistant.comparing.wording import describe_budget, describe_reuse
from assistant.records import AssistantError, Parameters
from corpus.errors import CorpusError
from corpus.records import Paper, Scope, TopicKind, parse_topic_key
from corpus.store.corpus import Corpus
from corpus.text import words
from corpus.wording import counted
from explorer.app.navigation import COLLECTION, PAPER, link_to
from explorer.app.one_by_one import screens
from explorer.app.resources import Library
from explorer.app.session import CurrentComparison, Visitor, current_owner, has_field, set_field
from explorer.app.visitor.comparison import ComparisonSession, Order
from explorer.ask.choices import draw_parameters, draw_writer
from explorer.components.rows import action, row
from explorer.components.spending import draw_spending
from explorer.presenters.finding import search_papers
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.topics import topic_name
from explorer.presenters.wording import authors_and_year

FOUND = 6
LONGEST_SEARCH = 500
# More characters than are accepted, so that a question that is too long is refused instead of cut.
LONGEST_QUESTIONS = 2 * MOST_COLUMNS * LONGEST_COLUMN
USUAL = ComparisonOptions()
# The number of papers of an example, and the kinds of its topic.
FEWEST_OF_EXAMPLE, MOST_OF_EXAMPLE = 3, 5
_EXAMPLE_KINDS: tuple[TopicKind, ...] = ("task", "method")
# The description to plan with while there is none; it hardly changes the budget.
NOT_DESCRIBED = "the work at hand"
ORDER_NAMES: dict[PaperOrder, str] = {
    "given": "As added",
    "year": "By year",
    "similarity": "By similarity to the description",
}
WHAT_IT_IS = (
    "Several papers become one cited, comparative text, as a related-work section has it. First the key "
    "elements of each are read. Then a model writes the text paper by paper; without one, the papers’ own "
    "sentences are brought into groups. Every sentence leads to its passages."
)
# Per setting of Algorithm 1: its label, maximum, default and help text.
SETTINGS: dict[str, tuple[str, int, int, str]] = {
    "samples": ("Samples", MOST_SAMPLES, USUAL.samples, "How often each summary kept is continued."),
    "votes": ("Votes", MOST_VOTES, USUAL.votes, "How many votes decide which candidates are kept."),
    "keep": ("Keep", MOST_KEPT, USUAL.keep, "How many candidates go on to the next paper."),
}


def draw_choosing(library: Library, visitor: Visitor, session: CurrentComparison) -> Order | None:
    """Draw the choices of a comparison; return the order once its button is clicked."""
    st.title("Compare papers", anchor=False)
    if not session.now.papers:
        with st.container(key="reading_what_it_is"):
            st.markdown(WHAT_IT_IS)
    papers, work = st.columns([0.56, 0.44], gap="large")
    # Drawn first: the plan has the labels of the papers.
    with work:
        order = _draw_order(library, visitor, session)
        plan = plan_of(library, visitor, session, order) if len(session.now.papers) >= FEWEST_PAPERS else None
        begins = _draw_beginning(session, plan)
    with papers, st.container(key="chosen", gap="small"):
        _draw_papers(library, session, plan if isinstance(plan, Planned) else None)
        _draw_ways_to_papers(library, visitor, session)
    return order if begins else None


def plan_of(library: Library, visitor: Visitor, session: CurrentComparison, order: Order) -> Planned | str:
    """Return the plan of a comparison, cached in the session, or the reason why it is not possible."""
    about = order.request.about if words(order.request.about) else NOT_DESCRIBED
    request = replace(order.request, about=about)
    key = (request, order.writer, order.parameters, library.corpus.manifest.versions)
    cached = session.now.plan
    if cached and cached[0] == key:
        return cached[1]
    plan: Planned | str
    try:
        comparer = library.comparer(order.writer, order.parameters, current_owner(visitor))
        plan = comparer.plan(request)
    except (AssistantError, CorpusError) as error:
        plan = str(error)
    session.update(ComparisonSession.plan_as, key, plan)
    return plan


def _draw_order(library: Library, visitor: Visitor, session: CurrentComparison) -> Order:
    key = f"about_{session.now.opened}"
    if not has_field(key):
        set_field(key, session.now.about)
    about = st.text_area(
        "What your own work is about",
        height=150,
        max_chars=LONGEST_DESCRIPTION,
        key=key,
        placeholder="Your topic, your question or your abstract: what the papers are compared for.",
    )
    session.update(ComparisonSession.describe, str(about or ""))
    questions = _draw_questions(session)
    # One below the other: side by side their labels are cut while the sidebar is open.
    order = _draw_paper_order()
    writer = draw_writer(library.writers())
    draw_spending(library, visitor, writer)
    options, parameters = _draw_manner(library, writer, order)
    request = ComparisonRequest(session.now.papers, session.now.about, options, questions)
    return Order(request, writer, parameters)


def _draw_questions(session: CurrentComparison) -> tuple[str, ...]:
    """Draw the field for the reader's own questions; return its lines without empty ones."""
    key = f"questions_{session.now.opened}"
    if not has_field(key):
        set_field(key, session.now.questions)
    typed = st.text_area(
        "Your own questions",
        height=100,
        max_chars=LONGEST_QUESTIONS,
        key=key,
        placeholder="Which data sets are used?",
        help=f"One on each line, {MOST_COLUMNS} at most. Every paper answers them in sentences of its own: "
        "further columns of the grid.",
    )
    session.update(ComparisonSession.ask, str(typed or ""))
    return tuple(line.strip() for line in session.now.questions.splitlines() if line.strip())


def _draw_paper_order() -> PaperOrder:
    orders = list(ORDER_NAMES)
    chosen = st.selectbox(
        "Order of the papers",
        orders,
        format_func=lambda order: ORDER_NAMES[order],
        key="compare_order",
        persist_state="session",
        help="The text takes the papers up in this order, and they are labelled in it.",
    )
    return chosen if chosen in ORDER_NAMES else orders[0]


def _draw_manner(
    library: Library, writer: str, order: PaperOrder
) -> tuple[ComparisonOptions, Parameters | None]:
    """Draw the settings of a writer that asks a model; the extractive writer has none."""
    usual = library.usual_parameters(writer)
    if usual is None:
        return ComparisonOptions(order=order), None
    with st.expander("How it is written", icon=":material/tune:", key="compare_manner"):
        columns = st.columns(len(SETTINGS), gap="small")
        samples, votes, keep = (
            int(
                column.number_input(
                    label, 1, most, default, 1, key=f"compare_{name}", persist_state="session", help=meaning
                )
            )
            for column, (name, (label, most, default, meaning)) in zip(columns, SETTINGS.items(), strict=True)
        )
        parameters = draw_parameters(library, writer, usual)
    return ComparisonOptions(samples, votes, keep, order), parameters


def _draw_beginning(session: CurrentComparison, plan: Planned | str | None) -> bool:
    """Draw the budget and the button that starts the comparison; return True if it was clicked."""
    with st.container(key="plan", gap="xsmall"):
        if isinstance(plan, str):
            st.markdown(escaped(plan))
        elif plan:
            for line in (describe_budget(plan.budget), describe_reuse(plan), *plan.remarks):
                if line:
                    st.caption(escaped(line))
        for note in (session.now.failure, *session.now.notes):
            if note:
                st.markdown(f":material/info: {escaped(note)}")
        # Enabled without a description: the click is what sends the text being typed.
        too_few = len(session.now.papers) < FEWEST_PAPERS
        begins = st.button("Compare", type="primary", key="compare", disabled=too_few)
        missing = format_missing(session)
        if missing:
            st.caption(missing)
    return begins and not missing


def format_missing(session: CurrentComparison) -> str:
    """Return the message about a choice that is missing for a comparison, "" if none is."""
    if not session.now.papers:
        return f"Choose {FEWEST_PAPERS} to {MOST_PAPERS} papers first."
    if len(session.now.papers) < FEWEST_PAPERS:
        return "Choose at least one more paper."
    if not words(session.now.about):
        return "Say what your own work is about: the papers are compared for it."
    return ""


def _draw_papers(library: Library, session: CurrentComparison, plan: Planned | None) -> None:
    """Draw the chosen papers, with the order and labels of the plan if there is one."""
    with row("chosen_head"):
        st.markdown(f"**{counted(len(session.now.papers), 'paper')}**", width="content")
        st.caption(f"{FEWEST_PAPERS} to {MOST_PAPERS} can be compared at once", width="content")
        if session.now.papers:
            action("Clear", "compare_clear", session.update, ComparisonSession.clear)
    if plan:
        rows = [(f"\\[{paper.label}\\] ", paper.paper) for paper in plan.papers]
    else:
        rows = [("", paper) for paper in library.corpus.papers_by_id(session.now.papers)]
    with st.container(key="chosen_papers", gap="xsmall"):
        for number, (label, paper) in enumerate(rows, start=1):
            with row(f"chosen_row_{number}", gap="xsmall"):
                title = f"{label}{escaped(shortened(paper.title, 110))}{_authors_markdown(paper)}"
                link_to(PAPER, title, query_params={"id": paper.id}, width="stretch")
                remove = partial(session.update, ComparisonSession.remove, paper.id)
                meaning = f"Take out: {escaped(shortened(paper.title, 80))}"
                action(":material/close:", f"remove_{number}", remove, help=meaning)


def _authors_markdown(paper: Paper) -> str:
    """Return, as Markdown, the authors and year of a paper."""
    names = shortened(authors_and_year(paper), 60)
    return f" :gray[{escaped(names)}]" if names else ""


def _draw_ways_to_papers(library: Library, visitor: Visitor, session: CurrentComparison) -> None:
    if len(session.now.papers) < MOST_PAPERS:
        _draw_search(library, session)
    else:
        st.caption(f"{MOST_PAPERS} papers are chosen, the most that can be compared at once.")
    with row("more_papers"):
        if others := tuple(paper for paper in visitor.now.picked if paper not in session.now.papers):
            st.button(
                f"Add the {counted(len(others), 'selected paper')}",
                key="add_picked",
                icon=":material/add:",
                on_click=session.update,
                args=(ComparisonSession.add, others),
            )
        link_to(COLLECTION, "Choose in the collection", icon=":material/library_books:")
        if not session.now.papers and (example := example_comparison(library.corpus)):
            take = partial(session.update, ComparisonSession.take_example, example.papers, example.about)
            label = f"Begin with an example: {counted(len(example.papers), 'paper')}"
            action(label, "compare_example", take, icon=":material/arrow_forward:")


def choose_again(library: Library, session: CurrentComparison) -> None:
    """Go back to the choices, set as the comparison was ordered."""
    if session.now.order:
        options = session.now.order.request.options
        chosen = {"order": options.order, "samples": options.samples, "keep": options.keep}
        for name, value in (chosen | {"votes": max(1, options.votes)}).items():
            set_field(f"compare_{name}", value)
        if session.now.order.writer in {writer.name for writer in library.writers()}:
            set_field("writer", session.now.order.writer)
    session.update(ComparisonSession.choose_again)


def _draw_search(library: Library, session: CurrentComparison) -> None:
    query = st.text_input(
        "Add papers",
        key=f"compare_search_{session.now.opened}",
        live="300ms",
        type="search",
        placeholder="Search titles, abstracts and texts to add papers",
        label_visibility="collapsed",
        icon=":material/search:",
    )
    query = str(query or "")[:LONGEST_SEARCH]
    if not words(query):
        return
    with screens.yield_turn():
        found = search_papers(library.corpus, library.encoder, query, Scope())
    fresh = [match.paper for match in found if match.paper.id not in session.now.papers]
    with st.container(key="found_papers", gap="xxsmall"):
        if not fresh:
            st.caption("No other paper matches." if found else "No paper here matches this.")
        for number, paper in enumerate(fresh[:FOUND], start=1):
            label = f"{escaped(shortened(paper.title, 110))}{_authors_markdown(paper)}"
            add = partial(session.update, ComparisonSession.add, (paper.id,))
            action(label, f"add_{number}", add, icon=":material/add:", width="stretch")


@dataclass(frozen=True, slots=True)
class Example:
    """Papers on one topic, and a description of the work to compare them for."""

    papers: tuple[str, ...]
    about: str


def example_comparison(corpus: Corpus) -> Example | None:
    """Return papers on the most frequent task, else method, that at least three papers have."""
    frequent = [key for key, count in corpus.statistics.topic_counts().items() if count >= FEWEST_OF_EXAMPLE]
    for kind in _EXAMPLE_KINDS:
        if topic := next((key for key in frequent if parse_topic_key(key)[0] == kind), ""):
            papers = corpus.papers(Scope(topics=(topic,)), limit=MOST_OF_EXAMPLE)
            about = f"How earlier work goes about {topic_name(topic)}."
            return Example(tuple(paper.id for paper in papers), about)
    return None
