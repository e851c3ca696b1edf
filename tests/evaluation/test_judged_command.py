"""Answers counted against the sentences that were judged to answer."""

from evaluation.judged import JUDGED, places, read_judged


def test_every_judged_place_was_seen() -> None:
    rows = read_judged(JUDGED)
    assert len({row.id for row in rows}) == len(rows) > 1500
    for row in rows:
        seen = set(places(row.seen))
        assert set(places((*row.full, *row.part, *row.leaning))) <= seen, row.id
        assert row.answerable or not row.full, row.id
