"""The player in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from make.robots import biped
from make.runs import fallen, stood
from make.walkers import swaying_clip, walker
from surefoot.adapters.adaptation import Adaptation
from surefoot.adapters.timing import Timing, retimed
from surefoot.contacts.balance import balance
from surefoot.index.index import feasibility
from surefoot.reports.page import report

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=3000", "--enable-logging=stderr", "--v=0",
)  # fmt: skip


@pytest.fixture(scope="module")
def chromium() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no browser: install chromium to test the player")
    return found


def shown(chromium: str, html: str, folder: Path) -> tuple[str, str]:
    """What the page looks like after its script ran, and what the console said."""
    (folder / "page.html").write_text(html, encoding="utf-8")
    address = (folder / "page.html").as_uri()
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [chromium, *QUIET, profile, "--dump-dom", address]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


@pytest.fixture(scope="module")
def html(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    robot = walker()
    clip = swaying_clip(robot)
    report([clip, balance(clip, robot)], path, robot=robot)
    return path.read_text("utf-8")


def test_the_player_draws_and_says_where_the_zmp_is(chromium, html, tmp_path):
    """At the start it stands in the middle of 0.28 m by 0.2 m and its acceleration is nil.

    So the ZMP lies under the centre of mass, 100 mm from the nearest edge.
    """
    dom, console = shown(chromium, html, tmp_path)
    assert console == ""
    assert 'data-ready="1"' in dom
    readout = re.search(r'data-part="readout"[^>]*>([^<]*)<', dom)
    assert readout is not None
    assert readout.group(1) == "ZMP 100 mm inside · standing: left foot, right foot"
    assert re.search(r'data-part="moment"[^>]*>0\.00 s<', dom)


UNTIL = """
<script>
// Frames of an animation come with the clock of the page, however busy the machine is.
window.requestAnimationFrame = (tick) => setTimeout(() => tick(performance.now()), 16);
const until = async (met) => {
  while (!met()) await new Promise((done) => setTimeout(done, 16));
};
</script>
"""

TRY = """
<script>
(async () => {
  const figure = document.querySelector("figure.player");
  const part = (name) => figure.querySelector(`[data-part="${name}"]`);
  const canvas = figure.querySelector("canvas");
  const ink = () => canvas.toDataURL();
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const facts = {};
  const first = ink();
  const blank = document.createElement("canvas");
  Object.assign(blank, { width: canvas.width, height: canvas.height });
  facts.drawn = first !== blank.toDataURL();
  part("time").value = 1.3;
  part("time").dispatchEvent(new Event("input"));
  facts.moment = part("moment").textContent;
  facts.standing = part("readout").textContent.split("standing: ")[1];
  facts.moved = ink() !== first;
  const before = ink();
  for (const key of ["ArrowLeft", "ArrowUp", "+"]) {
    press(key);
  }
  facts.turned = ink() !== before;
  part("reset").click();
  facts.reset = ink() === before;
  press("End");
  facts.end = part("moment").textContent;
  part("worst").click();
  facts.worst = part("readout").textContent.includes("outside");
  const line = document.querySelector("svg[data-t0] .cursor");
  facts.cursor = Number(line.getAttribute("x1")) > Number(line.closest("svg").dataset.x0);
  part("time").value = 0; part("time").dispatchEvent(new Event("input"));
  part("play").click();
  facts.playing = part("play").textContent;
  await until(() => parseFloat(part("moment").textContent) > 0);
  part("play").click();
  facts.paused = part("play").textContent;
  document.body.dataset.facts = JSON.stringify(facts);
})();
</script></body>
"""


def test_slider_keys_buttons_and_play_work(chromium, html, tmp_path):
    """At 1.3 s only the left foot stands; the clip ends at 2 s."""
    dom, console = shown(chromium, html.replace("</body>", UNTIL + TRY), tmp_path)
    assert console == ""
    facts = re.search(r'data-facts="([^"]*)"', dom)
    assert facts is not None
    assert facts.group(1).replace("&quot;", '"') == (
        '{"drawn":true,"moment":"1.30 s","standing":"left foot","moved":true,"turned":true,'
        '"reset":true,"end":"2.00 s","worst":true,"cursor":true,"playing":"Pause","paused":"Play"}'
    )


LIMITS = """
<script>
(async () => {
  const figure = document.querySelector("figure.player");
  const part = (name) => figure.querySelector(`[data-part="${name}"]`);
  const strip = part("strip"), slider = part("time"), facts = {};
  facts.opens = Number(slider.value) > 0;
  facts.why = part("why").textContent;
  facts.state = part("why").dataset.state;
  facts.aria = slider.getAttribute("aria-valuetext").includes("not feasible");
  const colours = (canvas) => {
    const copy = document.createElement("canvas"), found = new Set();
    Object.assign(copy, { width: canvas.width, height: canvas.height });
    const ctx = copy.getContext("2d", { willReadFrequently: true });
    ctx.drawImage(canvas, 0, 0);
    const data = ctx.getImageData(0, 0, copy.width, copy.height).data;
    for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 4).join());
    return found;
  };
  const bad = "192,57,43,255"; // --bad in light
  facts.strip = colours(strip).has(bad);
  facts.arrow = colours(figure.querySelector("canvas")).has(bad);
  slider.value = 0; slider.dispatchEvent(new Event("input"));
  facts.good = part("why").textContent.startsWith("● feasible: ");
  facts.calm = !colours(figure.querySelector("canvas")).has(bad);
  const box = strip.getBoundingClientRect();
  strip.setPointerCapture = () => {};
  const middle = { clientX: box.left + box.width / 2, pointerId: 1 };
  strip.dispatchEvent(new PointerEvent("pointerdown", middle));
  facts.half = part("moment").textContent;
  figure.querySelector("canvas").dispatchEvent(new KeyboardEvent("keydown", { key: "." }));
  facts.stepped = part("moment").textContent;
  part("worst").click();
  facts.again = part("why").textContent === facts.why;
  document.body.dataset.facts = JSON.stringify(facts);
})();
</script></body>
"""


def test_the_player_opens_at_the_worst_moment_and_says_what_limits(chromium, tmp_path):
    """The middle of 2 s is 1 s, a frame is a thirtieth of a second."""
    robot = walker()
    found = feasibility(swaying_clip(robot), robot)
    report([found], tmp_path / "report.html", robot=robot)
    html = (tmp_path / "report.html").read_text("utf-8")
    dom, console = shown(chromium, html.replace("</body>", LIMITS), tmp_path)
    assert console == ""
    attribute = re.search(r'data-facts="([^"]*)"', dom)
    assert attribute is not None
    facts = json.loads(unescape(attribute.group(1)))
    worst = found.worst
    assert facts.pop("why").startswith(f"✕ not feasible: {found.upper[worst]:.0f} N (")
    assert facts == {
        "opens": True, "state": "bad", "aria": True, "strip": True, "arrow": True, "good": True,
        "calm": True, "half": "1.00 s", "stepped": "1.03 s", "again": True,
    }  # fmt: skip


TWO = """
<script>
(() => {
  const figure = document.querySelector("figure.player"), facts = {};
  const part = (name) => figure.querySelector(`[data-part="${name}"]`);
  const ink = () => figure.querySelector("canvas").toDataURL();
  facts.above = part("compared").textContent.startsWith("✕ original: not feasible");
  facts.below = part("why").textContent.includes(" adapted: ");
  facts.readout = part("readout").textContent.startsWith("adapted: ZMP ");
  const beside = ink();
  part("lay").value = "over";
  part("lay").dispatchEvent(new Event("change"));
  facts.over = ink() !== beside;
  part("lay").value = "beside";
  part("lay").dispatchEvent(new Event("change"));
  facts.again = ink() === beside;
  facts.shown = !part("lay").parentElement.hidden;
  document.body.dataset.facts = JSON.stringify(facts);
})();
</script></body>
"""


def test_original_and_adapted_are_seen_side_by_side_or_one_over_the_other(chromium, tmp_path):
    robot = walker()
    before = feasibility(swaying_clip(robot), robot)
    time = before.clip.motion.time
    timing = Timing(time, 0.05 * np.sin(np.pi * time / 2.0) ** 2)
    after = feasibility(retimed(before.clip, timing, what="warp"), robot)
    found = Adaptation("warp", "warp", "better", after.clip, before, after, timing)
    report([found], tmp_path / "report.html", robot=robot)
    html = (tmp_path / "report.html").read_text("utf-8")
    dom, console = shown(chromium, html.replace("</body>", TWO), tmp_path)
    assert console == ""
    attribute = re.search(r'data-facts="([^"]*)"', dom)
    assert attribute is not None
    facts = json.loads(unescape(attribute.group(1)))
    names = ("above", "below", "readout", "over", "again", "shown")
    assert facts == dict.fromkeys(names, True)


def test_a_run_is_played_with_its_reference_behind_it(chromium, tmp_path):
    """Two actors, but one view: nothing to choose between side by side and over."""
    report([stood(biped(tmp_path))], tmp_path / "run.html")
    dom, console = shown(chromium, (tmp_path / "run.html").read_text("utf-8"), tmp_path)
    assert console == ""
    assert 'data-ready="1"' in dom
    assert re.search(r"<label hidden=\"\">shown", dom)
    why = re.search(r'data-part="why"[^>]*>([^<]*)<', dom)
    assert why is not None
    assert why.group(1).startswith("● reference: feasible")
    readout = re.search(r'data-part="readout"[^>]*>([^<]*)<', dom)
    assert readout is not None
    assert unescape(readout.group(1)).startswith("reference's ZMP ")
    assert "standing: left foot, right foot" in readout.group(1)


def test_two_runs_are_played_side_by_side(chromium, tmp_path):
    robot = biped(tmp_path)
    report([fallen(robot), stood(robot)], tmp_path / "runs.html")
    dom, console = shown(chromium, (tmp_path / "runs.html").read_text("utf-8"), tmp_path)
    assert console == ""
    assert re.search(r"<label>shown", dom)
    for part, name in (("compared", "first run"), ("why", "second run")):
        line = re.search(rf'data-part="{part}"[^>]*>([^<]*)<', dom)
        assert line is not None
        assert f"reference, {name}: feasible" in line.group(1)
