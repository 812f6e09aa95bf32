"""Data that tests of several rooms use."""

import random

import pytest


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
