"""Plots as inline SVG, and what is kept of long lines."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from surefoot.reports import panels, plots
from surefoot.reports.panels import Bar, Line, Panel
from surefoot.reports.plots import Footprint, Range
from surefoot.reports.roles import ROLES

TIME = np.linspace(2.0, 4.0, 201)


def one_plot(label: str = "a plot") -> str:
    band = (np.full(201, -0.1), np.full(201, 0.1))
    drawn = (
        Panel("outside, mm", (Line("distance", np.sin(9.0 * TIME), "zmp"),), zero=True),
        Panel("left, m", (Line("ZMP", np.cos(9.0 * TIME), "zmp"),), band),
    )
    return plots.over_time(
        TIME,
        drawn,
        bars=(
            Bar("left toe", 2.0, 3.0, "left"),
            Bar("right toe", 2.5, 4.0, "right", touch="moving"),
        ),
        rows=("left toe", "right toe"),
        shaded=((2.2, 2.4),),
        label=label,
    )


def test_a_short_line_is_drawn_as_it_is():
    np.testing.assert_array_equal(panels.kept(np.array([1.0, np.inf, 3.0])), (0, 1, 2))


def test_a_single_peak_and_a_single_gap_survive_thinning():
    values = np.zeros(100_000)
    values[31_234], values[77_777], values[50_000] = 5.0, -4.0, np.inf
    kept = panels.kept(values)
    assert len(kept) <= panels.MOST_POINTS
    assert {31_234, 77_777, 50_000} <= set(kept.tolist())
    assert np.all(np.diff(kept) > 0)


def test_a_line_that_exists_nowhere_is_drawn_as_gaps():
    assert len(panels.kept(np.full(10_000, np.nan))) == panels.MOST_POINTS // 3


def test_the_page_is_told_where_time_lies_in_the_plot():
    """691.2 pt wide: margins of 1.05 in = 75.6 pt at the left, 0.15 in = 10.8 pt at the right."""
    svg = one_plot()
    assert re.findall(r'data-(t0|t1|x0|x1)="([^"]*)"', svg) == [
        ("t0", "2"),
        ("t1", "4"),
        ("x0", "75.6"),
        ("x1", "680.4"),
    ]
    assert 'viewBox="0 0 691.2 ' in svg


def test_a_plot_holds_no_address_no_style_sheet_and_no_colour_of_its_own():
    svg = one_plot()
    assert "http" not in svg
    assert "<style" not in svg
    assert not [c for c in re.findall(r"#[0-9a-f]{6}\b", svg) if c != "#ffffff"]
    assert set(re.findall(r"var\(--(\w+)\)", svg)) <= set(ROLES)


def test_the_label_of_a_plot_is_escaped():
    assert 'aria-label="a &lt;b&gt; &amp; c"' in one_plot("a <b> & c")


def test_a_plot_is_the_same_bytes_again_and_whatever_the_users_style():
    first = one_plot()
    with mpl.rc_context({"axes.facecolor": "red", "font.size": 30.0, "svg.fonttype": "path"}):
        assert one_plot() == first
        assert mpl.rcParams["font.size"] == 30.0
    assert one_plot() == first


def test_ids_of_two_plots_in_a_page_do_not_meet():
    both = [plots.own_ids(one_plot(), prefix) for prefix in ("a", "b")]
    ids = [set(re.findall(r'\bid="([^"]*)"', svg)) for svg in both]
    assert not ids[0] & ids[1]
    for svg, own in zip(both, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]*)\)", svg)) <= own
        assert set(re.findall(r'href="#([^"]*)"', svg)) <= own


@pytest.mark.parametrize("wide", [0.3, 3.0])
def test_the_view_from_above_has_equal_scales(wide):
    """A square footprint of 0.2 m stays square, whatever the window."""
    corners = np.array([[0.0, 0.0], [0.2, 0.0], [0.2, 0.2], [0.0, 0.2]])
    path = np.column_stack([np.linspace(0.0, wide, 50), np.zeros(50)])
    svg = plots.from_above((("CoM", path, "com"),), (Footprint(corners, "left"),), label="x")
    outline = re.search(r'd="([^"]*)"[^>]*style="fill: var\(--left\)', svg)
    assert outline is not None
    points = np.array(re.findall(r"[ML] ([\d.]+) ([\d.]+)", outline.group(1)), dtype=float)
    width, height = np.ptp(points, axis=0)
    assert width == pytest.approx(height, abs=0.03)  # written to hundredths of a point


def test_a_joint_beyond_its_limit_is_said_in_words():
    svg = plots.joint_ranges(
        (Range("knee", 0.0, 2.0, -0.1, 1.0), Range("hip", -1.0, 1.0, 0.0, 0.0)), label="x"
    )
    assert svg.count(">beyond<") == 1


@pytest.mark.parametrize("name", ["<script>", r"$\\frac$", "膝", "_hidden", "a&b"])
def test_any_name_of_a_joint_or_link_is_written_as_it_is(name):
    ranges = plots.joint_ranges((Range(name, 0.0, 1.0, 0.2, 0.3),), label="x")
    rows = plots.over_time(
        TIME,
        (Panel("a", (Line("b", TIME, "zmp"),)),),
        bars=(Bar(name, 2.0, 3.0, "left"),),
        rows=(name,),
        label="x",
    )
    for svg in (ranges, rows):
        texts = [text.text for text in ElementTree.fromstring(svg).iter("text")]
        assert name in texts


def test_nothing_of_matplotlib_is_loaded_before_a_plot_is_drawn():
    code = (
        "import sys, surefoot.reports.page, surefoot.reports.sections;"
        "print([name for name in sys.modules if name.startswith('matplotlib')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_drawing_does_not_load_pyplot():
    code = (
        "import sys, numpy as np; from surefoot.reports import panels, plots;"
        "t = np.arange(3.0); panel = panels.Panel('a', (panels.Line('b', t, 'zmp'),));"
        "plots.over_time(t, [panel], label='x'); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def _distance_plot(values: np.ndarray) -> str:
    panel = Panel("ZMP outside, mm", (Line("distance", values, "zmp"),), zero=True)
    return plots.over_time(TIME, (panel,), label="x")


def test_a_few_peaks_do_not_flatten_all_else_and_are_named():
    """One sample of 5 m among distances of ±0.1 m: the axis ends at 2 · 0.1 m."""
    values = 100.0 * np.sin(9.0 * TIME)
    assert "peak" not in _distance_plot(values)
    values[40] = 5159.0
    svg = _distance_plot(values)
    assert "◂ peak 5,159" in svg
    assert ">5000<" not in svg
    values[40], values[180] = 0.0, 5159.0
    assert "peak 5,159 ▸" in _distance_plot(values)


def test_distances_that_exist_nowhere_have_no_peak():
    assert "peak" not in _distance_plot(np.full(201, np.inf))
