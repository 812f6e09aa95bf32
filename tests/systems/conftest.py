"""A small file of pages in two languages, and a lexicon for each."""

import json

import pytest

from isogloss.corpus.formats.jsonl import Jsonl

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
