"""What ``bridge`` glosses with: its translation model, its vectors, and the full forms of its words."""

import pytest

import isogloss
from isogloss.storage.errors import InputError
from isogloss.systems.bridge.model import BridgeModel
from isogloss.translation.glossing import gloss_text

ENGLISH = ["The memory of the containers is limited.", "Volcanoes erupt and throw lava.", "The libraries lend books."]
FRENCH = [
    "La mémoire des conteneurs est limitée.",
    "Les volcans explosent et jettent lave.",
    "Les bibliothèques prêtent livres.",
]
LEXICON = {"memory": "mémoire", "containers": "conteneurs", "limited": "limitée", "libraries": "bibliothèques"}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    documents = [{"id": str(number), "text": text} for number, text in enumerate(FRENCH)]
    pages = [{"id": str(number), "text": text} for number, text in enumerate(ENGLISH)]
    path = tmp_path_factory.mktemp("bridge") / "index"
    return isogloss.Index.make(documents, "fr", path=path, lexicon=LEXICON, translations=pages)


def test_stems_are_shown_as_words_of_the_pages_and_the_lexicon(index):
    (hit,) = index.search("limits of memory", k=1, gloss=True)
    assert hit.twin.id == hit.document.id == "0"
    by_text = {piece.text: piece.gloss for piece in hit.gloss.snippet}
    assert (by_text["mémoire"], by_text["conteneurs"]) == ("memory", "containers")
    system = index.searcher.languages["fr"].system
    model = system.model
    forms = {word: model.form_of(word) for word in model.translation.query_words}
    assert forms["librari"] == "libraries" and forms["memori"] == "memory"
    assert set(forms.values()) <= {*forms, *" ".join(ENGLISH).lower().replace(".", "").split()}


def test_a_model_without_forms_is_read_and_shows_what_it_has(index, tmp_path):
    from dataclasses import replace

    system = index.searcher.languages["fr"].system
    replace(system.model, forms=None).save(tmp_path)
    loaded = BridgeModel.load(tmp_path)
    assert loaded.forms is None and loaded.form_of("memori") == "memori"


def test_forms_that_do_not_fit_the_words_are_damage(index, tmp_path):
    from dataclasses import replace

    from isogloss.storage.strings import StringTable

    system = index.searcher.languages["fr"].system
    replace(system.model, forms=StringTable.of(["one"])).save(tmp_path)
    with pytest.raises((ValueError, InputError), match="does not fit"):
        BridgeModel.load(tmp_path)


def test_a_gloss_outlives_a_change_of_the_index(index):
    before = [gloss_text(hit.gloss.snippet) for hit in index.search("memory", gloss=True)]
    index.add([{"id": "9", "text": "La mémoire des bibliothèques."}], "fr")
    after = {hit.document.id: gloss_text(hit.gloss.snippet) for hit in index.search("memory", gloss=True)}
    assert "memory" in before[0].lower()
    assert "libraries" in after["9"]
