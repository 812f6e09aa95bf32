"""Hard negatives by the model that is being trained: the documents it now takes to be nearest to each query."""

from __future__ import annotations

import numpy as np
import torch

from isogloss.models.matchers.scorer import VectorScorer
from isogloss.models.similarity import smooth_scale
from isogloss.training.encoding import encode_texts
from isogloss.training.pairs import Ids
from isogloss.training.triples import Triples

_QUERIES = 1024  # compared with all documents at a time


def nearest_documents(scorer: VectorScorer, triples: Triples, number: int) -> Ids:
    """The rows of the ``number`` documents with the largest cosine for each query, best first.

    The cosine of the vectors, whatever the scorer makes of them: all pairs would be too many for a network.
    """
    device, was_training = next(scorer.parameters()).device, scorer.training
    scorer.eval()
    queries = encode_texts(scorer.encode_queries, triples.queries, device)
    documents = torch.from_numpy(encode_texts(scorer.encode_documents, triples.documents, device)).to(device)
    scorer.train(was_training)
    columns = smooth_scale(documents, 0.0).T
    found = np.empty((len(queries), min(number, len(triples.documents))), np.int32)
    for first in range(0, len(queries), _QUERIES):
        part = torch.from_numpy(queries[first : first + _QUERIES]).to(device)
        found[first : first + _QUERIES] = (part @ columns).topk(found.shape[1], dim=1).indices.cpu().numpy()
    return found
