"""Opening and writing files: one sentence for every way that fails, and never half a file."""

from __future__ import annotations

import os
import pathlib
import stat
from collections.abc import Callable

import pytest

from surefoot.errors import BadFile, NoFile
from surefoot.formats import files
from surefoot.formats.files import place, read_bytes, shown, write_whole
from surefoot.reports import figures


def test_a_file_that_is_not_there_is_said(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NoFile) as raised:
        read_bytes(tmp_path / "gone.bvh")
    assert str(raised.value) == f"no such file ({place(tmp_path / 'gone.bvh')}). Check the path"


def test_a_folder_is_no_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NoFile, match="a folder, not a file"):
        read_bytes(tmp_path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_said(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "locked.bvh"
    path.write_bytes(b"x")
    path.chmod(0)
    with pytest.raises(NoFile, match="cannot be opened: Permission denied"):
        read_bytes(path)


def test_a_path_with_a_zero_byte_is_no_file() -> None:
    with pytest.raises(NoFile, match=r"cannot be opened: .*null"):
        read_bytes("a\0b")


def test_empty_files_and_git_pointers_are_said(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"")
    with pytest.raises(BadFile, match="the file is empty"):
        read_bytes(path)
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with pytest.raises(BadFile, match=r"a Git LFS pointer.*Run: git lfs pull"):
        read_bytes(path)


def test_a_file_beyond_the_limit_is_refused(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    path = tmp_path / "a.bvh"
    path.write_bytes(b"x" * 11)
    with pytest.raises(BadFile, match="more than the 10 bytes that are read"):
        read_bytes(path)


def test_foreign_words_are_shown_without_control_signs_and_short() -> None:
    assert shown("a\x1b[31m\nb") == "a?[31m?b"
    assert len(shown("x" * 1000)) == 80
    assert place("/very/" * 100 + "end.bvh").endswith("end.bvh")
    assert len(place("/very/" * 100)) == 160


def test_a_written_file_replaces_the_old_one_and_leaves_nothing_beside(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / "a.bvh"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_written_file_has_the_mode_of_any_other(tmp_path: pathlib.Path) -> None:
    write_whole(tmp_path / "a", b"x")
    (tmp_path / "b").write_bytes(b"x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"}
    assert len(modes) == 1


def test_when_writing_fails_the_old_file_stays(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.bvh"
    write_whole(path, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NoFile, match="cannot be written: No space left on device"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")
@pytest.mark.parametrize(
    "write", [write_whole, lambda path, data: figures.write_whole(path, data.decode())]
)
def test_links_and_pipes_stay_what_they_are(
    tmp_path: pathlib.Path, write: Callable[[pathlib.Path, bytes], None]
) -> None:
    """As root, `-o /dev/null` would else make a file of the machine's device."""
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("a")
    write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"new"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(tmp_path / "pipe", b"said")
        assert os.read(reader, 9) == b"said"
    finally:
        os.close(reader)
    assert not (tmp_path / "pipe").is_file()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "link", "pipe"]


def test_a_folder_that_is_not_there_is_said(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NoFile, match="cannot be written: No such file or directory"):
        write_whole(tmp_path / "no" / "a.bvh", b"x")
