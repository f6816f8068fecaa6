"""The candidate elements of a step as one compressed column: they are always read all together, and seldom."""

import json
from collections.abc import Sequence
from typing import Any

from annotations.datasets.records import CandidateRecord
from annotations.models.corpus.pages import compress, decompress


def pack_candidates(positives: Sequence[CandidateRecord], negatives: Sequence[CandidateRecord]) -> bytes:
    """Candidates as compressed JSON rows: tag, node id, attributes, flags where the source has them."""
    if not positives and not negatives:
        return b""
    rows: list[list[Any]] = []
    for record in (*positives, *negatives):
        row: list[Any] = [record.tag, record.node_id, record.attributes]
        if record.is_original_target is not None or record.is_top_level_target is not None:
            row += [record.is_original_target, record.is_top_level_target]
        rows.append(row)
    content = {"positives": len(positives), "rows": rows}
    return compress(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode())


def unpack_candidates(data: bytes) -> tuple[list[CandidateRecord], list[CandidateRecord]]:
    """The inverse of `pack_candidates`: (positives, negatives)."""
    if not data:
        return [], []
    content = json.loads(decompress(data))
    records = [CandidateRecord(row[1], row[0], *row[2:]) for row in content["rows"]]
    return records[: content["positives"]], records[content["positives"] :]
