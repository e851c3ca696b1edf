"""An upper estimate of the cost of a question, before it is asked."""

from itertools import chain, islice, repeat

from assistant.generators.protocol import MOST_SECOND_SEARCHES
from assistant.models.menu import ModelEntry
from assistant.records import AskOptions, Parameters
from assistant.retrieve import TIMES_ALONE

# Upper bounds in tokens of a passage with its neighbours, of a paper's title and abstract, and of the rest of
# a prompt (instructions, question, earlier turns). Real prompts have half to four fifths of these.
_PASSAGE, _PAPER, _BESIDE = 400, 300, 3000


def question_price(
    entry: ModelEntry, parameters: Parameters, options: AskOptions, *, searches_again: bool = False
) -> float:
    """Return an upper estimate of a question's cost in US dollars; 0 if prices are not known."""
    # Calls for its search query, and for those of second searches.
    short = 1 + MOST_SECOND_SEARCHES * searches_again
    calls = options.drafts * (1 + entry.rerank + entry.revise)
    prompt = short * min(_BESIDE, entry.context) + calls * min(_BESIDE + _read(options), entry.context)
    return entry.price(prompt, (short + calls) * parameters.max_tokens) or 0.0


def _read(options: AskOptions) -> int:
    """Return the tokens of the evidence."""
    if len(options.scope.papers) == 1:
        return _PAPER + TIMES_ALONE * options.passages[0] * _PASSAGE
    passages = islice(chain(options.passages, repeat(options.passages[-1])), options.papers)
    return _PAPER * options.papers + _PASSAGE * sum(passages)
