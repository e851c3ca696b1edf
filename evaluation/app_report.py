"""The figures of the app as tables for people."""

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from evaluation.app_bench import AppFigures, Reruns
from evaluation.app_browser import BrowserFigures


def app_tables(figures: AppFigures) -> list[Table]:
    tables = [_pages(figures)]
    if figures["browser"]:
        tables.append(_browser(figures["browser"], figures["papers"]))
    return tables


def _pages(figures: AppFigures) -> Table:
    title = (
        f"{figures['papers']:,} papers, {figures['think_seconds']:g} s between two looks;"
        " milliseconds are median / p95; processor time and memory are ours, stock's"
    )
    names = ("At once", "ms", "stock, ms", "ratio", "CPU ms", "MB")
    numbers = (Column(name, justify="right", no_wrap=True) for name in names)
    table = Table("Page", *numbers, box=SIMPLE_HEAD, title=title)
    for one in figures["pages"]:
        ours, stock = one["ours"], one["stock"]
        table.add_row(
            one["page"],
            str(one["sessions"]),
            _times(ours),
            _times(stock),
            f"{one['stock_to_ours']:.1f}",
            _beside(ours["cpu_ms"], stock["cpu_ms"]),
            _beside(ours["memory_mb"], stock["memory_mb"]),
        )
    return table


def app_failures(figures: AppFigures) -> list[str]:
    """Return what failed, in words."""
    return [
        f"Failed, {one['page']}, {one['sessions']} at once, {manner}: {error}"
        for one in figures["pages"]
        for manner, reruns in (("ours", one["ours"]), ("stock", one["stock"]))
        for error in reruns["errors"]
    ]


def _times(reruns: Reruns) -> str:
    return f"{reruns['ms_p50']:.0f} / {reruns['ms_p95']:.0f}"


def _beside(*values: float | None) -> str:
    return ", ".join("" if value is None else f"{value:.0f}" for value in values)


def _browser(figures: BrowserFigures, papers: int) -> Table:
    table = Table("In Chromium", Column("ms", justify="right"), box=SIMPLE_HEAD)
    clicks = f"{figures['click_ms_p50']:.0f} / {figures['click_ms_p95']:.0f}"
    table.add_row(f"Citation to passage, {figures['clicks']} clicks, median / p95", clicks)
    again = f"{figures['list_again_ms_p50']:.0f} / {figures['list_again_ms_max']:.0f}"
    table.add_row(f"List of {papers:,} papers, until it can be used, median / longest", again)
    table.add_row("the same on a first visit, median", f"{figures['list_first_ms_p50']:.0f}")
    return table
