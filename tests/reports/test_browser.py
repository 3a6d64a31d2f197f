"""The player in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from make.walkers import swaying_clip, walker
from surefoot.contacts.balance import balance
from surefoot.reports.page import report

pytestmark = pytest.mark.browser
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
  await new Promise((done) => setTimeout(done, 600));
  part("play").click();
  facts.paused = part("play").textContent;
  facts.went = parseFloat(part("moment").textContent) > 0;
  document.body.dataset.facts = JSON.stringify(facts);
})();
</script></body>
"""


def test_slider_keys_buttons_and_play_work(chromium, html, tmp_path):
    """At 1.3 s only the left foot stands; the clip ends at 2 s."""
    dom, console = shown(chromium, html.replace("</body>", TRY), tmp_path)
    assert console == ""
    facts = re.search(r'data-facts="([^"]*)"', dom)
    assert facts is not None
    assert facts.group(1).replace("&quot;", '"') == (
        '{"drawn":true,"moment":"1.30 s","standing":"left foot","moved":true,"turned":true,'
        '"reset":true,"end":"2.00 s","worst":true,"cursor":true,"playing":"Pause","paused":"Play",'
        '"went":true}'
    )
