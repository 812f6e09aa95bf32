"""Pages in two languages that are each other's translations, with vectors and a lexicon."""

import json

import numpy as np
import pytest
from tests.tiny_data import gather, put, read, tiny

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.jsonl import Jsonl
from isogloss.papers.adhoc.aligned import AlignedOptions
from isogloss.papers.word_vectors.word_vectors import WordVectors

__all__ = ["gather", "put", "read", "tiny"]

ENGLISH = {
    "mill": "The mill grinds wheat, and the mill turns by the river.",
    "port": "In the port sleep the boats, old boats and new boats.",
    "farm": "The farm has apples, hay and wheat for the winter.",
    "bees": "Bees make honey from flowers near the farm.",
}
FRENCH = {
    "mill": "Le moulin moud le blé, et le moulin tourne par la rivière.",
    "port": "Dans le port dorment les bateaux, vieux bateaux et nouveaux bateaux.",
    "farm": "La ferme a des pommes, du foin et du blé pour l'hiver.",
    "bees": "Les abeilles font du miel avec les fleurs près de la ferme.",
}
LEXICON = {
    "mill": "moulin", "grinds": "moud", "wheat": "blé", "river": "rivière", "port": "port", "boats": "bateaux",
    "farm": "ferme", "apples": "pommes", "hay": "foin", "winter": "hiver", "bees": "abeilles", "honey": "miel",
    "flowers": "fleurs",
}  # fmt: skip


@pytest.fixture
def pages(tmp_path):
    """Writes the pages as a source."""

    def write(english=ENGLISH):
        lines = [
            {"id": f"{lang}-{name}", "lang": lang, "title": name, "text": text}
            | ({"translations": {other: f"{other}-{name}"}} if english is ENGLISH else {})
            for lang, texts, other in (("en", english, "fr"), ("fr", FRENCH, "en"))
            for name, text in texts.items()
        ]
        path = tmp_path / "pages.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return Jsonl(str(path))

    return write


@pytest.fixture
def dataset(pages):
    return load_dataset(pages(), ("en", "fr"))


@pytest.fixture
def options(tmp_path):
    """Given vectors, those of a word and its translation alike, and a lexicon."""
    matrix = np.random.default_rng(0).standard_normal((len(LEXICON), 6)).astype(np.float32)
    WordVectors(list(LEXICON), matrix).save(tmp_path / "en")
    WordVectors(list(LEXICON.values()), matrix[:, ::-1]).save(tmp_path / "fr")
    lexicon = tmp_path / "en-fr.tsv"
    lexicon.write_text("".join(f"{word}\t{other}\n" for word, other in LEXICON.items()), encoding="utf-8")
    return AlignedOptions(
        lexicon=str(lexicon), query_vectors=str(tmp_path / "en"), document_vectors=str(tmp_path / "fr")
    )
