"""Papers by year as small bars, for above a slider; built from numbers alone. No Streamlit."""

from collections.abc import Mapping


def year_bars(counts: Mapping[int, int], first: int, last: int) -> str:
    """Return HTML with a bar for each year from `first` to `last`, as high as it has papers."""
    most = max((counts.get(year, 0) for year in range(first, last + 1)), default=0)
    bars = "".join(_bar(year, counts.get(year, 0), most) for year in range(first, last + 1))
    return f'<div class="pt-years" role="img" aria-label="{_said(counts, first, last)}">{bars}</div>'


def _bar(year: int, papers: int, most: int) -> str:
    # A year with few papers is still to be seen.
    height = max(2, round(48 * papers / most)) if papers and most else 0
    return f'<span title="{int(year)}: {int(papers):,}" style="height:{height}px"></span>'


def _said(counts: Mapping[int, int], first: int, last: int) -> str:
    most = max(range(first, last + 1), key=lambda year: counts.get(year, 0))
    papers = int(counts.get(most, 0))
    return f"Papers by year, {int(first)} to {int(last)}. The most, {papers:,}, are of {int(most)}."
