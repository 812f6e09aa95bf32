"""The real sets beside the repository read as their README says."""

from __future__ import annotations

import pytest

from isogloss.data.summary import summarise


@pytest.mark.parametrize(
    ("pair", "documents", "judged"), [("en-en", 30915, (18546, 6184)), ("en-sw", 30936, (18565, 6185))]
)
def test_the_bible_has_the_counts_of_its_readme(shared_data, read, pair, documents, judged):
    if not (shared_data / "bible").is_dir():
        pytest.skip("the bible set is not there")
    summary = summarise(read(f"wikiclir:{shared_data / 'bible'}", pair))
    assert summary["documents"] == documents
    assert summary["queries"] == 18565 + 6185  # the test queries are held out
    assert summary["splits"] == {
        "train": {"queries": 18565, "judged": judged[0]}, "dev": {"queries": 6185, "judged": judged[1]},
    }  # fmt: skip
    assert summary["grades"]["2"] == sum(judged)
    assert summary["partially_relevant_per_query"] == pytest.approx(4.58, abs=0.02)
    assert summary["problems"]["errors"] == summary["problems"]["warnings"] == {}
