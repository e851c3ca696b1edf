"""The last builds of a corpus, as table rows and sentences. No Streamlit."""

from collections.abc import Iterable, Mapping, Sequence

from corpus.records import Build
from corpus.wording import counted
from explorer.presenters.safe_text import one_line
from explorer.presenters.wording import day, seconds

# Longer lists are read in the terminal.
MOST_LISTED = 500

Row = dict[str, object]


def last_builds(builds: Iterable[Build], collections: Iterable[str]) -> tuple[Build, ...]:
    """Return the last build of each of `collections`, in their order."""
    latest: dict[str, Build] = {}
    for build in builds:
        if build.collection_id not in latest or latest[build.collection_id].started <= build.started:
            latest[build.collection_id] = build
    return tuple(latest[collection] for collection in collections if collection in latest)


def build_rows(builds: Sequence[Build], titles: Mapping[str, str]) -> list[Row]:
    """Return a row per build for the table."""
    return [
        {
            "Collection": titles.get(build.collection_id, build.collection_id),
            "Built": day(build.started),
            "New": build.added,
            "Changed": build.changed,
            "Same": build.unchanged,
            "Gone": build.removed,
            "Failed": len(build.failures),
            "Remarks": len(build.remarks),
            "Seconds": round(build.seconds, 1),
            "Read by": format_parsers([build]),
        }
        for build in builds
    ]


def format_parsers(builds: Sequence[Build]) -> str:
    """Count the papers by parser: "16 by pypdfium2, 3 from metadata alone"."""
    papers: dict[str, int] = {}
    for count in (count for build in builds for count in build.parsers):
        papers[count.parser] = papers.get(count.parser, 0) + count.papers
    named = sorted(papers.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(
        f"{number:,} by {one_line(name)}" if name else f"{number:,} from metadata alone"
        for name, number in named
    )


def format_effort(builds: Sequence[Build]) -> str:
    """Describe the passages, time and memory of builds, "" if they embedded nothing."""
    passages = sum(build.passages for build in builds)
    if not passages:
        return ""
    time = sum(build.seconds for build in builds)
    memory = max(build.peak_memory_mib for build in builds)
    within = f" and at most {memory:,} MiB of memory" if memory else ""
    return f"{counted(passages, 'passage')} in {seconds(time)}{within}."


def failures(builds: Sequence[Build], titles: Mapping[str, str]) -> list[Row]:
    """Return a row for each paper that could not be read, with the reason."""
    return [
        {
            "Paper": one_line(failure.item),
            "Why": one_line(failure.reason),
            "Collection": titles.get(build.collection_id, build.collection_id),
        }
        for build in builds
        for failure in build.failures
    ]


def remarks(builds: Sequence[Build], titles: Mapping[str, str]) -> list[Row]:
    """Return a row for each remark on a paper that was read."""
    return [
        {
            "Paper": one_line(remark.item),
            "Remark": one_line(remark.text),
            "Collection": titles.get(build.collection_id, build.collection_id),
        }
        for build in builds
        for remark in build.remarks
    ]
