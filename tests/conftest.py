"""Data that tests of several packages use."""

import json
import random
import signal

import pytest

from isogloss.data.readers.jsonl import Jsonl
from isogloss.storage.containers import Container

PAGES = {
    "fr": {
        "bees": ("Les abeilles", "Les abeilles fabriquent le miel dans la ruche avec le nectar des fleurs du jardin."),
        "sea": ("La mer", "La mer est salée parce que les rivières y apportent le sel des roches depuis toujours."),
        "bread": ("Le pain", "Le boulanger prépare le pain chaque matin avec de la farine, de l'eau et du sel."),
    },
    "it": {
        "bees": ("Le api", "Le api fanno il miele nell'alveare con il nettare dei fiori che trovano nei giardini."),
        "sea": ("Il mare", "Il mare è salato perché i fiumi vi portano il sale delle rocce da moltissimo tempo."),
        "bread": ("Il pane", "Il fornaio prepara il pane ogni mattina con la farina, l'acqua e un poco di sale."),
    },
}
LEXICONS = {
    "en-fr": "bee\tabeille\nhoney\tmiel\nsea\tmer\nsalty\tsalé\nsalt\tsel\nbread\tpain\nbaker\tboulanger\n",
    "en-it": "bee\tapi\nhoney\tmiele\nsea\tmare\nsalty\tsalato\nsalt\tsale\nbread\tpane\nbaker\tfornaio\n",
}


@pytest.fixture(autouse=True)
def no_cluster(request, monkeypatch):
    """The cluster that tests of ``tests/engines/ray`` start for the whole session is not there for any other test."""
    if "ray" not in request.path.parts:
        monkeypatch.delenv("RAY_ADDRESS", raising=False)


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Processes that tests start can be interrupted: a shell in the background has its children ignore that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory):
    """What isogloss remembers for its user is not written into the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("ISOGLOSS_VECTOR_CACHE", "0")
        yield


@pytest.fixture(scope="session")
def damage_array():
    """Changes the last byte of an array in the container of a directory."""

    def damage(directory, name):
        entry = Container.open(directory).entries[name]
        with open(directory / "arrays.bin", "r+b") as file:
            file.seek(entry.start + entry.size - 1)
            (last,) = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([last ^ 1]))

    return damage


@pytest.fixture(scope="session", autouse=True)
def no_starter():
    """Results do not depend on whether isogloss-starter is installed: tests of it bring tables of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("isogloss.translation.starter._PACKAGE", "isogloss_starter_of_nobody")
        yield


@pytest.fixture(scope="session")
def questions(tmp_path_factory):
    """Made-up questions in English and French under the same ids, French answers, 20 for training and 20 for dev."""
    folder, rng = tmp_path_factory.mktemp("questions"), random.Random(0)
    (folder / "splits").mkdir()
    files = {"wiki_en.queries": "", "wiki_fr.queries": "", "wiki_fr.documents": "", "en2fr.rel": "", "fr2fr.rel": ""}
    for number in range(40):
        stems = [rng.choice("bdfgklm") + rng.choice("aeiou") + rng.choice("nrst") for _ in range(5)]
        english, french = (" ".join(stem + ending for stem in stems[:4]) for ending in ("ing", "que"))
        answer = " ".join(f"{stem}que" for stem in stems[1:])
        texts = {"wiki_en.queries": english, "wiki_fr.queries": french, "wiki_fr.documents": answer}
        for name in files:
            id_ = f"d{number}" if name == "wiki_fr.documents" else f"q{number}"
            files[name] += f"{id_}\t-\t{texts[name]}\n" if name in texts else f"q{number}\td{number}\t2\n"
    for language in ("en", "fr"):
        for split, numbers in (("train", range(20)), ("dev", range(20, 40))):
            files[f"splits/{language}.{split}"] = "".join(f"q{number}\n" for number in numbers)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def pages(tmp_path):
    """Writes the pages; ``marked`` says whether they tell their language."""

    def write(marked=True, languages=tuple(PAGES)):
        path = tmp_path / f"pages{marked}.jsonl"
        lines = [
            {"id": f"{language}-{topic}", "title": title, "text": text} | ({"lang": language} if marked else {})
            for language in languages
            for topic, (title, text) in PAGES[language].items()
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return Jsonl(str(path))

    return write


@pytest.fixture
def lexicons(tmp_path):
    """The lexicon setting with its placeholder."""
    for pair, text in LEXICONS.items():
        (tmp_path / f"{pair}.tsv").write_text(text, encoding="utf-8")
    return {"lexicon": str(tmp_path / "{pair}.tsv")}
