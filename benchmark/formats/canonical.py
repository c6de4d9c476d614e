"""One spelling for each JSON value, and digests of it.

Two values that are equal as JSON, whatever the order of their keys, have the same bytes here on
every machine, so their SHA-256 may be stored, compared and published.
"""

import hashlib
import json
from typing import Any

# Made once: json.dumps builds an encoder at every call that departs from its defaults.
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)


def canonical_text(value: Any) -> str:
    """JSON with sorted keys, no spaces, and every character written as itself.

    Raises ValueError for NaN and infinities and TypeError for what JSON does not have.
    """
    return _ENCODER.encode(value)


def canonical_json(value: Any) -> bytes:
    """`canonical_text` in UTF-8. A lone surrogate raises UnicodeEncodeError, a ValueError."""
    return canonical_text(value).encode()


def canonical_digest(value: Any) -> bytes:
    """SHA-256 (32 bytes) of `canonical_json`."""
    return hashlib.sha256(canonical_json(value)).digest()


def canonical_hexdigest(value: Any) -> str:
    """SHA-256 of `canonical_json` as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
