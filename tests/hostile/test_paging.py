"""One ranking whatever k and offset: pages repeat and omit nothing, and equal texts go by their ids."""

from __future__ import annotations

import json
import os
from itertools import pairwise

import numpy as np
import pytest

from isogloss import Index
from isogloss.data.readers.demo import DEMO_PAGES
from isogloss.search.reranking import Reranker
from isogloss.search.searcher import Searcher

LONG = "ISOGLOSS_HOSTILE" in os.environ  # `make soak` tries more
QUERIES = ("why is the sea salty", "the history of bread and bakers in old towns", "honey bees", "xyzzy")[
    : 4 if LONG else 2
]
COPIES = 4 if LONG else 2
LEXICON = {"lexicon": "bundled"}
SYSTEMS = {
    "bm25": {}, "bm25-dict": LEXICON, "psq": LEXICON, "psq by passages": {**LEXICON, "passages": 20},
    "translation-lm": {}, "topic": {"topics": 5, "rounds": 3}, "bridge": {"depth": 20, "without": "weights"},
    **({"aligned": {}, "smooth": {}, "hybrid": {**LEXICON, "depth": 20}} if LONG else {}),
}  # fmt: skip
"""A system, and its options; a depth below the number of documents, so that some are beyond it."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The bundled pages in en, fr and es; each in fr and es five times, with other ids."""
    path = tmp_path_factory.mktemp("paging") / "pages.jsonl"
    with open(DEMO_PAGES, encoding="utf-8") as file, open(path, "w", encoding="utf-8") as out:
        for page in map(json.loads, file):
            if page["lang"] not in ("en", "fr", "es"):
                continue
            out.write(json.dumps(page) + "\n")
            for copy in range(COPIES if page["lang"] != "en" else 0):
                parts = {key: page[key] for key in ("text", "title", "lang")}
                name = f"{page['id']}-{copy * 7 % COPIES}"
                out.write(json.dumps({**parts, "id": name, "fields": {"part": str(copy % 2)}}) + "\n")
    return f"jsonl:{path}"


def check(searcher: Searcher, queries=QUERIES, many=True):
    found = 0
    for query in queries:
        for languages, filters in ((None, None), (["fr"], None), (None, {"part": "1"})):

            def hits(k, offset=0, query=query, languages=languages, filters=filters):
                listed = searcher.search(query, k, languages, filters, offset, explain=False)
                return [(hit.rank, hit.language, hit.document.id, round(hit.score, 5)) for hit in listed]

            whole = hits(200)
            found += len(whole)
            assert [hit for offset in range(0, 200, 10) for hit in hits(10, offset)] == whole
            for k in (10, 50, 300, 1_000):
                assert hits(k)[:200] == whole[:k], (query, languages, filters, k)
            if many:
                listed = searcher.search_many([query], 200, languages, filters)[0]
                assert [hit.document.id for hit in listed] == [id_ for _, _, id_, _ in whole]
            check_ties(searcher.search(query, 200, languages, filters, explain=False))
    return found


def check_ties(hits):
    """Equal texts in one language have one score (but for what is beyond a depth), and go by their ids."""
    for one, two in pairwise(hits):
        if (one.language, one.document.text, one.reranked) == (two.language, two.document.text, two.reranked):
            assert one.score == pytest.approx(two.score, rel=1e-4)
            assert one.document.id < two.document.id


@pytest.mark.parametrize("name", SYSTEMS)
def test_pages_of_ten_are_the_list_of_two_hundred(name, pages):
    made = Index.make(pages, ["fr", "es"], system=name.split(maxsplit=1)[0], **SYSTEMS[name])
    assert check(made.searcher) >= 100


def test_beyond_the_re_ranked_depth_the_first_stage_goes_on(pages):
    made = Index.make(pages, ["fr", "es"], system="psq", **LEXICON)
    reranker = Reranker(lambda query, texts: np.array([len(text) % 7 for text in texts], np.float32), ("en", "fr"), 25)
    assert check(made.searcher.reranked_by(reranker)) >= 100


def test_documents_in_the_language_of_the_query_are_merged_in_one_order(pages):
    made = Index.make(pages, ["en", "fr"], system="psq", **LEXICON)
    assert check(made.searcher, QUERIES[:2]) >= 100
