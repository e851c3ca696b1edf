"""Chosen papers in the address of a page, and back. No Streamlit."""

from collections.abc import Iterable
from urllib.parse import quote, unquote

# Commas stand between ids; the rest of what ids are made of needs no change.
_AS_IT_IS = "/:._-~"
LONGEST_ADDRESS = 8_000


def papers_in_address(paper_ids: Iterable[str]) -> str:
    return ",".join(quote(one, safe=_AS_IT_IS) for one in paper_ids)


def papers_of_address(address: str) -> tuple[str, ...]:
    """Return the ids that an address names, each once; of one too long, none."""
    if len(address) > LONGEST_ADDRESS:
        return ()
    named = (unquote(one) for one in address.split(","))
    return tuple(dict.fromkeys(one for one in named if one))
