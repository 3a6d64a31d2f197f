"""Pictures painted pixel by pixel: areas, colours and ghosts that are known by hand."""

from __future__ import annotations

import io

import matplotlib.image
import numpy as np
import pytest

from surefoot.reports import geometry, raster
from surefoot.reports.projection import Camera, shaded
from surefoot.reports.sheet import GHOST, Piece, Sheet

FRONT = Camera.at(0.0, 0.0)


def ball(radius: float, rgb: tuple[float, float, float] = (0.2, 0.4, 0.8), y: float = 0.0) -> Piece:
    shape = geometry.Shape(1, "capsule", np.zeros(3), np.eye(3), np.array([radius, 0.0, 0.0]), rgb)
    return Piece(shape, np.array([0.0, y, 0.0]), np.eye(3))


def painted(pixels: np.ndarray) -> np.ndarray:
    """Pixels that are covered by more than half, of shapes whose darkest channel is about 50."""
    return np.asarray(pixels.min(axis=2) < 128)


def test_a_ball_covers_the_area_of_its_disc() -> None:
    """The sheet is as wide as the ball and two margins of 6 %, 12 px: a disc of radius 88 px.

    The outline is one pixel wide, half of it outside.
    """
    sheet = Sheet(FRONT, "ball")
    sheet.solids([ball(0.1)])
    pixels = raster.image(sheet, 200.0, fine=1.0)
    assert pixels.shape == (200, 200, 3)
    assert painted(pixels).sum() == pytest.approx(np.pi * 88.5**2, rel=0.01)


def test_a_box_seen_from_the_front_is_a_rectangle_of_its_colour() -> None:
    sheet = Sheet(FRONT, "box")
    box = geometry.box(np.zeros(3), np.eye(3), np.array([0.1, 0.2, 0.1]), rgb=(0.6, 0.3, 0.2))
    sheet.solids([Piece(box, box.pos_l, box.rot_ls)])
    pixels = raster.image(sheet, 200.0, fine=1.0)
    wide, tall = 200 - 2 * 12, (200 - 2 * 12) / 2
    # The outline adds half a pixel to each side, and a tie of rounding at its edge as much again.
    assert wide * tall <= painted(pixels).sum() <= (wide + 2) * (tall + 2)
    # The face looks at the eye: its normal in the camera's axes is z.
    light = np.array([-0.35, 0.62, 0.70])
    bright = 0.54 + 0.52 * 0.5 * (1.0 + light[2] / np.linalg.norm(light))
    tone = shaded((0.6, 0.3, 0.2), bright)
    middle = pixels[len(pixels) // 2, 100]
    assert "#" + "".join(f"{value:02x}" for value in middle) == tone


def test_a_ghost_is_laid_on_as_a_whole() -> None:
    """Two balls in one place: together no darker than one, and paper shows through."""
    shades = []
    for count in (1, 2):
        sheet = Sheet(FRONT, "ghost")
        sheet.ghost([ball(0.1)] * count)
        shades.append(raster.image(sheet, 100.0, fine=1.0)[50, 50])
    np.testing.assert_array_equal(*shades)
    sheet = Sheet(FRONT, "solid")
    sheet.plain = True
    sheet.solids([ball(0.1)])
    solid = raster.image(sheet, 100.0, fine=1.0)[50, 50]
    expected = 255.0 * (1.0 - GHOST) + GHOST * solid
    np.testing.assert_allclose(shades[0], expected, atol=1.0)


def test_what_is_nearer_is_painted_over_what_is_behind() -> None:
    sheet = Sheet(FRONT, "order")
    near, far = ball(0.1, (0.9, 0.1, 0.1)), ball(0.1, (0.1, 0.1, 0.9))
    behind = Piece(far.shape, np.array([-1.0, 0.0, 0.0]), np.eye(3))
    sheet.solids([near, behind])
    red, _, blue = raster.image(sheet, 100.0, fine=1.0)[50, 50]
    assert red > blue


def test_a_png_holds_the_rows_with_room_for_headings_and_words() -> None:
    sheet = Sheet(FRONT, "row")
    sheet.solids([ball(0.1)])
    sheet.label(0.0, "first line\nsecond line")
    pixels, words = raster.image(sheet, 100.0, fine=1.0), raster.labels(sheet, 100.0, fine=1.0)
    assert words == [(50.0, "first line\nsecond line")]
    bare = matplotlib.image.imread(io.BytesIO(raster.png([(pixels, [], "")], fine=1.0)))
    full = matplotlib.image.imread(io.BytesIO(raster.png([(pixels, words, "Title")], fine=1.0)))
    assert bare.shape[:2] == (108, 100)  # half a line below
    assert full.shape[0] - bare.shape[0] == pytest.approx(16 * (2 + 1.6), abs=1)
    np.testing.assert_allclose(bare[:100, :, :3], pixels / 255.0, atol=1 / 255)


def test_the_same_sheet_gives_the_same_bytes() -> None:
    sheet = Sheet(FRONT, "same")
    sheet.solids([ball(0.1)])
    row = (raster.image(sheet, 100.0), raster.labels(sheet, 100.0), "A")
    assert raster.png([row]) == raster.png([row])
