"""`isogloss search --rerank`: hits are explained by what gave their score, and their words are marked quickly."""

import json

import numpy as np
import pytest

from isogloss.search.reranking import Reranker
from isogloss.search.searcher import Searcher
from isogloss.systems.base import Contribution

QUERY = "red apples boats hay"


@pytest.fixture
def explained():
    """The texts that the re-ranker has explained."""
    return []


@pytest.fixture
def index(run, tiny, lexicon, here, monkeypatch, explained):
    """An index of the tiny documents, and a re-ranker that explains itself slowly."""

    def load(folder, depth=50):
        def explain(query, text, score):
            explained.append(text)
            return [Contribution("apples", (text.split()[1],), score)]

        return Reranker(lambda query, texts: np.arange(len(texts)), ("en", "fr"), depth, explain, "a-matcher")

    monkeypatch.setattr("isogloss.search.reranking.load_reranker", load)
    command = ("index", f"wikiclir:{tiny}", "--system", "bm25-dict", "--language", "fr", "-o", "index")
    assert run(*command, "--set", f"lexicon={lexicon}").code == 0
    return here / "index"


def test_a_re_ranked_score_is_explained_on_request(run, index, explained):
    shown = run("search", index, QUERY, "-k", "2", "--rerank", "run").out
    assert "━━━ by a-matcher" in shown
    assert explained == []
    shown = run("search", index, QUERY, "-k", "2", "--rerank", "run", "--explain").out
    assert len(explained) == 2
    assert " apples → " in shown
    hits = json.loads(run("search", index, QUERY, "--rerank", "run", "--json", "-").out)["hits"]
    assert all(hit["reranked"] for hit in hits)
    for hit in hits:
        assert sum(part["score"] for part in hit["explanation"]) == pytest.approx(hit["score"])
    assert " by " not in run("search", index, QUERY, "-k", "2").out


def test_words_are_marked_by_what_found_the_document_until_then(index, explained):
    from rich.console import Console

    from isogloss.cli.prompt import Prompt
    from isogloss.index.reader import open_index
    from isogloss.search.reranking import load_reranker

    opened = open_index(index)
    out = Console(record=True, force_terminal=True, color_system="standard", width=120)
    prompt = Prompt(opened.manifest, Searcher(opened).reranked_by(load_reranker(index)), out, k=3)
    prompt.take(QUERY)
    assert "\x1b[1;33mpommes\x1b[0m" in out.export_text(styles=True)
    assert explained == []
    prompt.take(":why 1")
    assert len(explained) == 1
    assert "by a-matcher" in out.export_text()
