"""Files in and out: pairs, personas and votes as plain records, and the writers of a release.

Reading never raises for what a file holds: each fault is a Problem that names file, line, field and
reason, among the records that are sound.
"""

from benchmark.formats.canonical import (
    canonical_digest,
    canonical_hexdigest,
    canonical_json,
    canonical_text,
)
from benchmark.formats.records import (
    Location,
    PairRecord,
    PersonaRecord,
    Prior,
    Problem,
    VoteRecord,
)
from benchmark.formats.sources import MANIFEST, read_pairs, read_votes
from benchmark.formats.writers import CsvWriter, JsonlWriter, ParquetWriter, sha256_file, zip_folder

__all__ = [
    "MANIFEST",
    "CsvWriter",
    "JsonlWriter",
    "Location",
    "PairRecord",
    "ParquetWriter",
    "PersonaRecord",
    "Prior",
    "Problem",
    "VoteRecord",
    "canonical_digest",
    "canonical_hexdigest",
    "canonical_json",
    "canonical_text",
    "read_pairs",
    "read_votes",
    "sha256_file",
    "zip_folder",
]
