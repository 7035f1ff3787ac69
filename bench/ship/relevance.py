"""Build the shipped relevance model, which is fitted like the benchmarked models, but to all five parts."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import sklearn

import catalog.relevance
from bench.catalog.asking import Vectors
from bench.catalog.held_out import PAIRS, read_pairs, split
from bench.catalog.retrieval import PARTS, REPEATS, SEED, fit_parts

VERSION = "nl2bash-2"
MODEL = Path(catalog.relevance.__file__).with_name("model.json")


def build() -> str:
    if not PAIRS.is_file():
        return f"skipped, because {PAIRS.name} is missing"
    pairs = read_pairs()
    parts = split((pair.component for pair in pairs), parts=PARTS, seed=SEED)
    made: dict[str, object] = {
        "from": "NL2Bash pairs (MIT), half of them",
        "pairs": len(pairs),
        "components": sum(map(len, parts)),
        "embedder": "all-minilm-l6-v2-int8",
        "catalogues": REPEATS,
        "with": f"scikit-learn {sklearn.__version__}, python -m bench.ship relevance",
    }
    with tempfile.TemporaryDirectory() as cache:
        document, _ = fit_parts(
            pairs,
            Vectors(Path(cache)),
            parts,
            seed=0,
            version=VERSION,
            made=made,
        )
    MODEL.write_text(json.dumps(document, separators=(",", ":")) + "\n", "utf-8")
    return f"match from {document['match_threshold']}"
