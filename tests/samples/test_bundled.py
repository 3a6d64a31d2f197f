"""Bundled clips: there, readable, and exactly what the generator makes."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import UnknownName
from surefoot.formats import bvh
from surefoot.samples import bundled, generator


def test_every_family_has_its_bundled_clip() -> None:
    assert bundled.names() == tuple(sorted(generator.FAMILIES))


@pytest.mark.parametrize("name", bundled.names())
def test_bundled_clip_is_seed_0_of_the_defaults_byte_for_byte(name: str, tmp_path) -> None:
    bvh.write(generator.make(name), tmp_path / "made.bvh")
    assert (tmp_path / "made.bvh").read_bytes() == bundled.path(name).read_bytes()


@pytest.mark.parametrize("name", bundled.names())
def test_bundled_clip_is_read_as_it_was_made(name: str) -> None:
    """Six decimals of a centimetre and of a degree: 1e-8 m, and 1e-8 rad over 2 m."""
    read, made = bundled.load(name), generator.make(name)
    assert read.fps == pytest.approx(30.0)
    assert read.skeleton.joint_names == made.skeleton.joint_names
    np.testing.assert_allclose(read.joint_pos_w, made.joint_pos_w, atol=1e-7)


@pytest.mark.parametrize("name", bundled.names())
def test_bundled_terrain_is_that_of_the_defaults_byte_for_byte(name: str) -> None:
    made, file = generator.terrain(name), bundled.path(name).with_suffix(".terrain.toml")
    assert (made is None) == (not file.is_file())
    assert (bundled.terrain(name) is None) == (made is None)
    if made is not None:
        assert file.read_bytes() == made.as_toml().encode()


def test_unknown_clip_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName) as error:
        bundled.load("side_step")
    assert str(error.value) == "no bundled clip is called 'side_step'. Did you mean 'sidestep'?"
