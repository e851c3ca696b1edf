"""The measurement of the app: the real app twice, a few visitors, and Chromium where it is."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.bench.app import CHROMIUMS
from tests.served_site import NGINX


def run(*arguments):
    return CliRunner().invoke(app, ["bench-app", *map(str, arguments)])


# On a busy machine the browser may not show in time what it was to show; the summary says if it did not.
@pytest.mark.long
@pytest.mark.flaky(reruns=1)
def test_pages_are_measured_beside_stock_settings_and_clicks_in_a_browser(demo_home):
    quick = ("--page", "ask", "--sessions", 2, "--seconds", 0.3, "--think", 0.1, "--clicks", 1)
    done = run("--home", demo_home, *quick)
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["papers"] == 16
    (page,) = figures["pages"]
    assert (page["page"], page["sessions"]) == ("ask", 2)
    for manner in ("ours", "stock"):
        assert page[manner]["errors"] == []
        # Two visitors, two turns each: none of their first looks is counted.
        assert page[manner]["count"] >= 4
        assert 0 < page[manner]["ms_p50"] <= page[manner]["ms_p95"]
        assert page[manner]["messages"] > 20
    assert page["stock_to_ours"] > 0
    if not any(map(shutil.which, CHROMIUMS)):
        assert figures["browser"] is None
        pytest.skip("chromium is not installed: no clicks were measured")
    assert figures["browser"]["clicks"] == 1
    assert 0 < figures["browser"]["click_ms_p50"] <= figures["browser"]["click_ms_p95"]
    assert 0 < figures["browser"]["list_again_ms_p50"] <= figures["browser"]["list_again_ms_max"]


@pytest.mark.long
@pytest.mark.skipif(not NGINX, reason="nginx is not installed")
def test_numbers_of_processes_are_measured_beside_each_other(demo_home):
    done = run(
        *("--home", demo_home, "--page", "about", "--sessions", 3, "--seconds", 0.5),
        *("--processes", 1, "--processes", 2),
    )
    assert done.exit_code == 0, done.output
    one, two = json.loads(done.stdout.splitlines()[-1])
    assert (one["processes"], two["processes"]) == (1, 2)
    assert one["to_first"] == 1
    for figures in (one, two):
        assert figures["errors"] == []
        assert figures["a_second"] > 0
        assert 0 < figures["ms_p50"] <= figures["ms_p95"]


def test_a_home_without_a_corpus_is_said(tmp_path):
    done = run("--home", tmp_path)
    assert done.exit_code == 2
    assert "no corpus" in done.output.lower()
