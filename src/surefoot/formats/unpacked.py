"""Files packed as a whole, by zlib, gzip, bz2, xz or lzma, unpacked within a limit."""

from __future__ import annotations

import bz2
import lzma
import zlib

from surefoot.errors import BadFile
from surefoot.formats.files import shown
from surefoot.formats.npz import MAX_RATIO, MAX_UNPACKED_BYTES, SMALL_BYTES

MAX_DICTIONARY_BYTES = 2**27  # what unpacking xz may take; its strongest setting needs 65 MiB
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x5d\x00\x00": "lzma",
    b"\x04\x22\x4d\x18": "lz4",
}


def packing(data: bytes) -> str:
    """By what the bytes are packed, told by the first of them; empty when by nothing known."""
    for magic, name in _MAGIC.items():
        if data.startswith(magic):
            return name
    # A zlib header: the word 78, and two bytes that a check makes a multiple of 31.
    if data[:1] == b"\x78" and len(data) > 2 and int.from_bytes(data[:2], "big") % 31 == 0:
        return "zlib"
    return ""


def unpacked(data: bytes, where: str) -> bytes:
    """The bytes that are packed, or the same where they are not.

    Raises:
        BadFile: damaged, cut short, in a packing that Python does not know, or too much in it.
    """
    name = packing(data)
    if not name:
        return data
    if name == "lz4":
        raise BadFile(what="packed by lz4, which is not read", where=where, todo="Unpack it first")
    limit = min(MAX_UNPACKED_BYTES, max(SMALL_BYTES, MAX_RATIO * len(data)))
    try:
        out, whole = _unpacked(name, data, limit + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError, MemoryError) as error:
        raise BadFile(
            what=f"packed by {name}, but damaged: {shown(error)}",
            where=where,
            todo="Fetch or write it again",
        ) from error
    if len(out) > limit:
        raise BadFile(
            what=f"{len(data)} bytes packed by {name} that unpack to more than {limit}", where=where
        )
    if not whole:
        raise BadFile(
            what=f"packed by {name}, but cut short", where=where, todo="Fetch or write it again"
        )
    return out


def _unpacked(name: str, data: bytes, limit: int) -> tuple[bytes, bool]:
    """At most so many bytes, and whether the end was reached."""
    if name in ("zlib", "gzip"):
        stream = zlib.decompressobj(zlib.MAX_WBITS | (16 if name == "gzip" else 0))
        return stream.decompress(data, limit), stream.eof
    if name == "bz2":
        bunch = bz2.BZ2Decompressor()
        return bunch.decompress(data, limit), bunch.eof
    chain = lzma.LZMADecompressor(memlimit=MAX_DICTIONARY_BYTES)
    return chain.decompress(data, limit), chain.eof
