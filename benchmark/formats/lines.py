"""Physical lines of a text file, in UTF-8 or UTF-16, without ever holding more than one."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from benchmark.formats.checks import Flaw

MAX_LINE = 64 * 1024 * 1024  # bytes in UTF-8, characters in UTF-16
_CHUNK = 1024 * 1024


class Line(NamedTuple):
    """A line with its ending. With a flaw, `text` is the best guess that is left, possibly ""."""

    number: int
    text: str
    flaw: Flaw | None


class Encoding(NamedTuple):
    name: str
    mark: int  # bytes of the byte order mark


class UnreadableFileError(Exception):
    """The file as a whole cannot be read; the message is fit for the user."""


def detect_encoding(path: Path) -> Encoding:
    """UTF-8, or UTF-16 by its byte order mark or by the zero byte beside the first character.

    Neither JSON nor a header that we accept begins with a character beyond ASCII or with NUL, so
    the second sign is as good as the first (RFC 4627, section 3). Raises UnreadableFileError for
    UTF-32.
    """
    with path.open("rb") as handle:
        head = handle.read(4)
    if head in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        raise UnreadableFileError("is UTF-32; save it as UTF-8")
    if head.startswith(b"\xef\xbb\xbf"):
        return Encoding("utf-8", 3)
    if head.startswith(b"\xff\xfe"):
        return Encoding("utf-16-le", 2)
    if head.startswith(b"\xfe\xff"):
        return Encoding("utf-16-be", 2)
    if len(head) >= 2 and (head[0] == 0) != (head[1] == 0):
        return Encoding("utf-16-be" if head[0] == 0 else "utf-16-le", 0)
    return Encoding("utf-8", 0)


def read_lines(path: Path, encoding: Encoding) -> Iterator[Line]:
    """Lines of `path`, split at LF alone, each with its ending. Raises OSError."""
    with path.open("rb") as handle:
        handle.seek(encoding.mark)
        yield from (
            _utf8_lines(handle) if encoding.name == "utf-8" else _utf16_lines(handle, encoding.name)
        )


def _too_long() -> Flaw:
    return Flaw(None, f"the line is longer than {MAX_LINE // 1024**2} MiB")


def _utf8_lines(handle: BinaryIO) -> Iterator[Line]:
    number = 0
    while raw := handle.readline(MAX_LINE + 1):
        number += 1
        if len(raw) > MAX_LINE:
            while raw and not raw.endswith(b"\n"):
                raw = handle.readline(_CHUNK)
            yield Line(number, "", _too_long())
            continue
        try:
            yield Line(number, raw.decode(), None)
        except UnicodeDecodeError as error:
            column = len(raw[: error.start].decode()) + 1
            reason = f"not valid UTF-8 at column {column} (byte 0x{raw[error.start]:02x})"
            yield Line(number, raw.decode(errors="replace"), Flaw(None, reason))


def _utf16_lines(handle: BinaryIO, encoding: str) -> Iterator[Line]:
    # surrogatepass, so that a lone surrogate reaches the check that can name its field.
    text = io.TextIOWrapper(handle, encoding, errors="surrogatepass", newline="\n")
    number = 0
    while True:
        try:
            line = text.readline(MAX_LINE + 1)
            if len(line) > MAX_LINE:
                while line and not line.endswith("\n"):
                    line = text.readline(_CHUNK)
                number += 1
                yield Line(number, "", _too_long())
                continue
        except UnicodeDecodeError:
            # Only an odd byte at the very end is an error under surrogatepass.
            yield Line(
                number + 1, "", Flaw(None, "not valid UTF-16: the file ends in half a character")
            )
            return
        if not line:
            return
        number += 1
        yield Line(number, line, None)
