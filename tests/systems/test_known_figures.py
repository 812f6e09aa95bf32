"""The figures that were promised for public data, where the data are at hand."""

from pathlib import Path

import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.evaluation.protocols import make_task
from isogloss.systems.evaluate import evaluate_system
from isogloss.systems.registry import make_system

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.skipif(not (DATA / "mdn").is_dir(), reason="needs ../shared/data/mdn and dictionaries beside the checkout")
def test_mdn_in_french_reaches_what_the_results_page_says():
    task = make_task(load_dataset(WikiClir(str(DATA / "mdn")), ("en", "fr")), "dev", "full")
    system = make_system("bm25-dict", ("en", "fr"), {"lexicon": str(DATA / "dictionaries" / "{pair}.gz")})
    assert evaluate_system(system, task, ("text",)).means()["MRR_mr"] >= 0.63
