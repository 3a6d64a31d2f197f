"""Opening files, with a sentence for each way to fail, and writing them whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from surefoot.errors import BadFile, NoFile

MAX_BYTES = 512 * 2**20  # no motion of the field is larger; a guard against filling the memory
SHOWN = 80  # signs of a foreign word that a sentence can bear
LFS_HEAD = b"version https://git-lfs"


def shown(name: object) -> str:
    """A foreign word as it may be printed: no control characters, not endlessly long."""
    text = "".join(sign if sign.isprintable() else "?" for sign in str(name)[: SHOWN + 1])
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def place(path: str | Path) -> str:
    """A path as it may be printed: no control characters, of a long one the end."""
    text = "".join(sign if sign.isprintable() else "?" for sign in str(path))
    return text if len(text) <= 2 * SHOWN else "..." + text[3 - 2 * SHOWN :]


def read_bytes(path: str | Path) -> bytes:
    """All bytes of a file.

    Raises:
        NoFile: not there, a folder, no permission.
        BadFile: empty, a Git LFS pointer, or too large.
    """
    where = place(path)
    try:
        if os.path.isdir(path):
            raise NoFile(what="a folder, not a file", where=where, todo="Name a file in it")
        with open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except NoFile:
        raise
    except FileNotFoundError as error:
        raise NoFile(what="no such file", where=where, todo="Check the path") from error
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise NoFile(what=f"cannot be opened: {reason}", where=where) from error
    if len(data) > MAX_BYTES:
        raise BadFile(what=f"more than the {MAX_BYTES} bytes that are read", where=where)
    if not data:
        raise BadFile(what="the file is empty", where=where)
    if data.startswith(LFS_HEAD):
        raise BadFile(
            what="a Git LFS pointer instead of the file", where=where, todo="Run: git lfs pull"
        )
    return data


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file so that it appears whole or not at all.

    A link stays and what it points to is replaced; a device or a pipe is written into.

    Raises:
        NoFile: the folder is not there or cannot be written.
    """
    target = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            with open(path, "wb") as stream:
                stream.write(data)
            return
        with open(beside, "xb") as stream:
            stream.write(data)
        os.replace(beside, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(error, (OSError, ValueError)):
            reason = getattr(error, "strerror", None) or str(error)
            raise NoFile(
                what=f"cannot be written: {reason}",
                where=place(path),
                todo="Give another place, or make room and see to its permissions",
            ) from error
        raise
