"""References in the text of TEI: which entries of the bibliography each sentence cites."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Paper
from indexer.parsers.document import Document
from indexer.parsers.tei.document import read_tei
from indexer.prepare.passages import make_passages
from tests.indexer.parsers.small_tei import abstract, div, tei


def ref(*entries: int | str, text: str | None = None, kind: str = "bibr") -> str:
    target = " ".join(f"#b{entry}" for entry in entries)
    shown = text if text is not None else f"[{','.join(str(int(entry) + 1) for entry in entries)}]"
    return f'<ref type="{kind}" target="{target}">{shown}</ref>'


def bibliography(count: int, *, without: tuple[int, ...] = ()) -> str:
    entries = (
        f'<biblStruct xml:id="b{n}">'
        + ("" if n in without else f'<note type="raw_reference">Entry {n}</note>')
        + "</biblStruct>"
        for n in range(count)
    )
    return f'<div type="references"><listBibl>{"".join(entries)}</listBibl></div>'


def read(*paragraphs: str, count: int = 12, without: tuple[int, ...] = ()) -> Document:
    return read_tei(tei(div("A", *paragraphs), back=bibliography(count, without=without)))


def cited(document: Document) -> list[tuple[str, tuple[int, ...]]]:
    return [
        (sentence.text, sentence.references)
        for section in document.sections
        for paragraph in section.paragraphs
        for sentence in paragraph.sentences
    ]


SPLIT_CASES = [
    (f"We use it {ref(0)}. They do {ref(1)}{ref(2)}. None here.", [(0,), (1, 2), ()]),
    (f"It works. {ref(0)} The rest {ref(1)} fails.", [(0,), (1,)]),
    (f"It works.{ref(0)} The rest fails.", [(0,), ()]),
    (f"It  works\n {ref(0)} twice {ref(0)}.   So. ", [(0,), ()]),
    (f"{ref(3)} opens. {ref(4)}", [(3, 4)]),
    (f"Both {ref(1, 5)} at once. Next.", [(1, 5), ()]),
    (f"As Smith et al. {ref(2, text='(2019)')} say. We too.", [(2,), ()]),
    (f"Nothing to see{ref(1, text='')}. Here {ref(2, text=' ')} too.", [(1,), (2,)]),
    (f"It works <hi>so {ref(1)}</hi>. Next <hi>{ref(2)}</hi> one.", [(1,), (2,)]),
]


@pytest.mark.parametrize(("source", "expected"), SPLIT_CASES)
def test_references_land_in_their_sentence(source: str, expected: list[tuple[int, ...]]) -> None:
    assert [entries for _, entries in cited(read(source))] == expected


@pytest.mark.parametrize(
    "source",
    [
        "We use it <ref type='bibr'>[1]</ref>.",
        f"We use it {ref(99)}.",
        "We use it <ref type='bibr' target='#'>[1]</ref> <ref type='bibr' target='b x'>[1]</ref>.",
        f"We use it {ref(0, kind='figure')}.",
        f"We use it {ref(7)}.",
        "We use it <ref type='bibr' entries='3'>[1]</ref>.",
    ],
    ids=["no target", "dangling", "empty", "no reference to the bibliography", "left out", "planted"],
)
def test_target_that_means_no_entry_is_ignored(source: str) -> None:
    assert [entries for _, entries in cited(read(source, without=(7,)))] == [()]


def test_targets_mean_the_entry_they_name_once() -> None:
    back = bibliography(2) + "<listBibl><biblStruct xml:id='b1'><note>Other</note></biblStruct></listBibl>"
    document = read_tei(tei(div("A", f"One {ref(0)}. Two {ref(1)}."), back=back))
    assert [entries for _, entries in cited(document)] == [(0,), ()]
    document = read(f"One {ref(0)}. Two {ref(2)}. Three {ref(4)}.", count=5, without=(1, 3))
    assert [reference.text for reference in document.references] == ["Entry 0", "Entry 2", "Entry 4"]
    assert [entries for _, entries in cited(document)] == [(0,), (1,), (2,)]


def test_joined_sentences_and_paragraphs_keep_their_references() -> None:
    source = (
        f"<s>As in Smith et al.</s><s>used {ref(1)}, see Fig.</s><s>3 there {ref(2)}.</s>{ref(3)} <s>Two.</s>"
    )
    assert cited(read(source)) == [
        ("As in Smith et al. used [2], see Fig. 3 there [3]. [4]", (1, 2, 3)),
        ("Two.", ()),
    ]
    document = read(f"The costs {ref(1)} of the", f"method are low {ref(2)}. It works {ref(3)}.")
    assert [entries for _, entries in cited(document)] == [(1, 2), (3,)]


RANGE_CASES = [
    (f"{ref(2)}- {ref(5)}", (2, 3, 4, 5)),
    (f"{ref(2)}–{ref(5)}", (2, 3, 4, 5)),
    (f"{ref(2, text='[3')}-{ref(5, text='6]')}", (2, 3, 4, 5)),
    (f"{ref(2, text='[3-')}{ref(5, text='6]')}", (2, 3, 4, 5)),
    (f"{ref(1)}, {ref(2)}-{ref(4)}", (1, 2, 3, 4)),
    (f"{ref(2)}-{ref(3)}", (2, 3)),
    (f"{ref(2)}, {ref(5)}", (2, 5)),
    (f"{ref(2)} to {ref(5)}", (2, 5)),
    (f"{ref(5)}-{ref(2)}", (5, 2)),
    (f"{ref(2)}-{ref(5, text='[9]')}", (2, 5)),
    (f"{ref(2, text='(Lee, 2018)')}-{ref(5, text='(Kim, 2019)')}", (2, 5)),
    (f"{ref(2)}-{ref(99, text='[6]')}", (2,)),
    (f"{ref(2)}-<hi>{ref(5)}</hi>", (2, 5)),
]


@pytest.mark.parametrize(("source", "expected"), RANGE_CASES)
def test_a_range_is_filled_only_where_it_fits(source: str, expected: tuple[int, ...]) -> None:
    assert [entries for _, entries in cited(read(f"As shown {source} before."))] == [expected]


def test_captions_notes_abstract_and_passages_cite_too() -> None:
    figure = f"<figure xml:id='fig_0'><head>Fig. 1 .</head><figDesc>A plot {ref(1)}.</figDesc></figure>"
    body = div("A", "Text.") + figure + f"<note place='foot'>See {ref(2)} there.</note>"
    document = read_tei(tei(body, header=abstract(f"<p>Short {ref(3)}.</p>"), back=bibliography(4)))
    assert [entries for _, entries in cited(document)] == [(), (1,), (2,)]
    assert document.abstract[0].sentences[0].references == (3,)
    source = tei(
        div("A", f"One {ref(0)}.", f"Two {ref(1)}. Three."),
        header=abstract(f"<p>In short {ref(1)}. Well.</p>"),
        back=bibliography(2),
    )
    paper = Paper("c/a", "c", "On it", (), None, "", "In  short [2]. Well.")
    first, second = make_passages(paper, read_tei(source))
    assert [sentence.references for sentence in first.sentences] == [(1,), ()]
    assert [sentence.references for sentence in second.sentences] == [(0,), (1,), ()]


WORDS = st.lists(st.sampled_from("kqwx yzkw qqxz wzyk".split()), min_size=1, max_size=5).map(" ".join)
CITING = st.lists(st.tuples(WORDS, st.lists(st.integers(0, 11), max_size=3)), min_size=1, max_size=6)


@given(st.lists(CITING, min_size=1, max_size=4), st.booleans())
def test_sentences_cite_what_was_written(paragraphs: list[list[tuple[str, list[int]]]], marked: bool) -> None:
    def write(sentence: tuple[str, list[int]]) -> str:
        text = f"{sentence[0].capitalize()} {' '.join(ref(n) for n in sentence[1])} end."
        return f"<s>{text}</s>" if marked else f"{text} "

    found = cited(read(*("".join(map(write, sentences)) for sentences in paragraphs)))
    written = [tuple(dict.fromkeys(entries)) for sentences in paragraphs for _, entries in sentences]
    # Paragraphs that are printed twice are kept once.
    if len(found) == len(written):
        assert [entries for _, entries in found] == written
    else:
        assert {entries for _, entries in found} <= set(written)
