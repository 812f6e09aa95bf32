"""A package of a stranger, installed as a wheel beside isogloss: its system, reader and engine work as ours do."""

import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from tools.run_examples import read_blocks

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guides" / "extend.md"
ENGINE = ROOT / "tests" / "engines" / "kept.py"
TABLE = """id,title,text
d1,Dostoïevski,Fiodor Dostoïevski est un romancier russe.
d2,Tolstoï,Léon Tolstoï a écrit Guerre et Paix.
d3,Tchekhov,"Anton Tchekhov, médecin, a écrit des nouvelles."
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the plugin of the guide, with an engine added, is installed into."""
    folder = tmp_path_factory.mktemp("plugin")
    blocks = {block.language: block.text for block in read_blocks(GUIDE.read_text(encoding="utf-8"))}
    wheel = write_wheel(folder, tomllib.loads(blocks["toml"])["project"], blocks["python"])
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", str(folder / "site"), str(wheel)], check=True)
    return folder / "site"


def write_wheel(folder, project, code):
    """A wheel as a build tool would make it of the guide's two files."""
    name = f"{project['name'].replace('-', '_')}-{project['version']}"
    entry_points = {**project["entry-points"], "isogloss.engines": {"kept": "isogloss_kept:KeptEngine"}}
    sections = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in members.items())
        for group, members in entry_points.items()
    ]
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    files = {
        "isogloss_trigrams.py": code,
        "isogloss_kept.py": ENGINE.read_text(encoding="utf-8"),
        f"{name}.dist-info/METADATA": metadata,
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}.dist-info/entry_points.txt": "\n".join(sections),
    }
    files[f"{name}.dist-info/RECORD"] = "".join(f"{path},,\n" for path in files)
    wheel = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return wheel


@pytest.fixture
def with_plugin(spawn, installed, here):
    """Runs a command with the plugin installed; its output."""
    (here / "names.csv").write_text(TABLE, encoding="utf-8")

    def run(*arguments):
        done = spawn(*arguments, env={"PYTHONPATH": str(installed)})
        assert done.code == 0, done.err
        return done.out

    return run


def test_the_system_is_listed_with_its_options(with_plugin):
    systems = {system["name"]: system for system in json.loads(with_plugin("systems", "--json", "-"))}
    assert systems["trigrams"]["paper"] == "McNamee and Mayfield 2004"
    assert [option["name"] for option in systems["trigrams"]["options"]] == ["passages"]
    assert "sequences of three letters" in with_plugin("systems", "trigrams")


def test_system_and_reader_make_an_index_that_is_searched_and_changed(with_plugin, here):
    index = ("--system", "trigrams", "--language", "fr", "-o", "index")
    with_plugin("index", "names.csv", *index)
    assert first_hit(with_plugin, "Dostoyevsky") == "d1"
    (here / "more.csv").write_text("id,title,text\nd4,Tourgueniev,Ivan Tourgueniev\n", encoding="utf-8")
    with_plugin("add", "index", "csv:more.csv", "--language", "fr")
    assert first_hit(with_plugin, "Turgueniev") == "d4"
    with_plugin("delete", "index", "d4")
    documents = json.loads(with_plugin("list", "index", "--json", "-"))
    assert {document["id"] for document in documents} == {"d1", "d2", "d3"}


def test_an_index_follows_the_file_of_the_reader(with_plugin, here):
    with_plugin("index", "names.csv", "--system", "bm25", "--language", "fr", "--query-language", "fr", "-o", "index")
    (here / "names.csv").write_text(TABLE.replace("Tchekhov", "Gogol"), encoding="utf-8")
    with_plugin("sync", "index")
    assert first_hit(with_plugin, "Gogol") == "d3"


def test_a_row_that_cannot_be_used_is_named(installed, fails_alone, here):
    (here / "names.csv").write_text("id,title,text\nd1,Gogol,\n", encoding="utf-8")
    command = ("index", "names.csv", "--system", "bm25", "--language", "fr", "-o", "index")
    assert "names.csv:2: has no id or no text" in fails_alone(*command, env={"PYTHONPATH": str(installed)})


def test_the_system_is_evaluated_beside_ours(with_plugin):
    out = with_plugin("evaluate", "trigrams", "bm25", "--data", "demo", "--pair", "en-fr", "--json", "-")
    assert [system["name"] for system in json.loads(out)["systems"]] == ["trigrams", "bm25"]


def test_the_engine_keeps_an_index(with_plugin, here):
    index = ("--system", "bm25", "--language", "fr", "--query-language", "fr", "-o", "index")
    with_plugin("index", "names.csv", *index, "--engine", f"kept:{here / 'engine'}")
    assert any((here / "engine").iterdir())
    assert first_hit(with_plugin, "romancier russe") == "d1"


def test_an_index_of_a_plugin_that_is_gone_says_what_is_missing(with_plugin, fails_alone):
    with_plugin("index", "names.csv", "--system", "trigrams", "--language", "fr", "-o", "index")
    assert "'trigrams' is not one of bridge" in fails_alone("search", "index", "Tolstoi")


def first_hit(with_plugin, query):
    hits = json.loads(with_plugin("search", "index", query, "--json", "-"))["hits"]
    return hits[0]["document"]["id"] if "document" in hits[0] else hits[0]["id"]
