"""`isogloss vectors`: from documents, or from files of any format, to words of another language."""

import gzip
import itertools
import json

import numpy as np
import pytest

from isogloss.papers.word_vectors.alignment import DIRECTIONS, METHODS, Alignment, AlignmentOptions, Preparation
from isogloss.papers.word_vectors.files import read_vectors, write_vectors
from isogloss.papers.word_vectors.training import VectorTraining
from isogloss.papers.word_vectors.word_vectors import WordVectors

PARTS = ("train", "convert", "align", "nearest", "translate")
TRAIN = ("vectors", "train", "--documents", "demo", "--language", "en", "--dimension", "20", "--contexts", "300")
ALIGN = ("vectors", "align", "en.vec", "fr.vec", "--lexicon", "en-fr.txt")
TRANSLATE = ("vectors", "translate", "en.vec", "fr.vec", "--alignment", "map")
SIZE = 60


@pytest.fixture
def languages(here):
    """English words a0, a1, … and French words b0, b1, … of the same meaning: one space is the other one turned."""
    random = np.random.default_rng(3)
    english = random.standard_normal((SIZE, 6)).astype(np.float32)
    french = (english @ np.linalg.qr(random.standard_normal((6, 6)))[0]).astype(np.float32)
    for name, letter, matrix in (("en.vec", "a", english), ("fr.vec", "b", french)):
        write_vectors(WordVectors([f"{letter}{i}" for i in range(SIZE)], matrix), f"word2vec:{here / name}")
    (here / "en-fr.txt").write_text("".join(f"a{i} b{i}\n" for i in range(40)))
    return here


@pytest.fixture
def aligned(languages, run):
    assert run(*ALIGN, "-o", "map", "--quiet") == (0, "", "")
    return languages


# train


def test_vectors_are_trained_on_the_documents_of_a_language(run, here):
    code, out, err = run(*TRAIN, "-o", "en")
    vectors = WordVectors.load(here / "en")
    assert (code, out, err) == (0, "", f"en: {len(vectors):,} words, 20 dimensions\n")
    assert next(iter(vectors.words)) == "the"
    assert vectors.dimension == 20


def test_trained_vectors_are_the_same_twice(run, here):
    for name in ("first", "second"):
        assert run(*TRAIN, "--seed", "5", "-o", f"binary:{name}").code == 0
    assert (here / "first").read_bytes() == (here / "second").read_bytes()


def test_the_defaults_of_training_are_those_of_the_library(run, monkeypatch):
    seen = []

    def train(texts, how):
        seen.append(how)
        return WordVectors(["a"], np.ones((1, 300), np.float32))

    monkeypatch.setattr("isogloss.papers.word_vectors.training.train_vectors", train)
    assert run("vectors", "train", "--documents", "demo", "--language", "fr", "-o", "fr").code == 0
    own = ("--window", 2, "--minimum-count", 9, "--maximum-words", 8, "--smoothing", "1", "--singular-power", ".5")
    assert run(*TRAIN, *own, "-o", "en").code == 0
    assert seen == [VectorTraining(), VectorTraining(20, 2, 9, 8, 300, 1.0, 0.5)]


def test_several_sources_are_read_title_and_text(run, here):
    (here / "one.jsonl").write_text('{"id": "1", "title": "heron", "text": "swims swims"}\n')
    (here / "two.jsonl").write_text('{"id": "1", "title": "heron", "text": "flies flies"}\n')
    train = ("vectors", "train", "--documents", "jsonl:one.jsonl", "--documents", "jsonl:two.jsonl")
    train += ("--language", "en", "--minimum-count", "2")
    code, _, err = run(*train, "-o", "both")
    assert code == 0
    assert "both: 3 words, 3 dimensions\n3 dimensions are all that so few words allow\n" in err
    assert list(WordVectors.load(here / "both").words) == ["flies", "heron", "swims"]
    assert run(*train, "--fields", "text", "-o", "texts").code == 0
    assert list(WordVectors.load(here / "texts").words) == ["flies", "swims"]


@pytest.mark.parametrize("how", [("-o", "word2vec:en.vec"), ("-o", "en.vec", "--format", "word2vec")])
def test_trained_vectors_are_written_in_other_formats_too(run, here, how):
    assert run(*TRAIN, *how).code == 0
    words, dimension = (here / "en.vec").read_text().split("\n")[0].split()
    assert dimension == "20"
    assert len(read_vectors(here / "en.vec")) == int(words)


def test_bad_documents_are_skipped_on_request(run, fails, here):
    (here / "bad.jsonl").write_text('{"id": "1", "text": "a heron a heron a heron"}\nbroken\n')
    train = ("vectors", "train", "--documents", "jsonl:bad.jsonl", "--language", "en", "-o", "en")
    assert "bad.jsonl:2" in fails(*train)
    code, _, err = run(*train, "--skip-bad")
    assert code == 0
    assert "1 x " in err


# convert


def test_a_chain_of_formats_loses_nothing(run, languages):
    steps = ("en.vec", "binary:en.bin", "glove:en.txt.gz", "en.vectors", "word2vec:again.vec")
    for source, target in itertools.pairwise(steps):
        code, _, err = run("vectors", "convert", source.rpartition(":")[2], "-o", target)
        assert (code, err) == (0, f"{target}: {SIZE} words, 6 dimensions\n")
    assert (languages / "again.vec").read_bytes() == (languages / "en.vec").read_bytes()


def test_the_first_words_only_are_converted_on_request(run, languages):
    assert run("vectors", "convert", "en.vec", "--limit", "7", "-o", "few").code == 0
    assert list(WordVectors.load(languages / "few").words) == [f"a{i}" for i in range(7)]


def test_odd_vectors_are_counted(run, here):
    (here / "odd.txt").write_text("cat 1 2\ncat 2 1\nnothing 0 0\n")
    code, _, err = run("vectors", "convert", "odd.txt", "-o", "odd")
    assert code == 0
    assert "odd.txt: 1 x duplicate word, the first: odd.txt:2: " in err
    assert "odd.txt: 1 x zero vector, the first: odd.txt:3: " in err
    assert run("vectors", "convert", "odd.txt", "-o", "odd", "--overwrite", "--quiet") == (0, "", "")


def test_bad_lines_are_skipped_on_request(run, fails, here):
    (here / "bad.txt").write_text("cat 1 2\ndog 1\ncow 2 1\n")
    assert "bad.txt:2" in fails("vectors", "convert", "bad.txt", "-o", "out")
    code, _, err = run("vectors", "convert", "bad.txt", "-o", "out", "--skip-bad")
    assert (code, len(err.splitlines())) == (0, 2)
    assert list(WordVectors.load(here / "out").words) == ["cat", "cow"]


# align


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_words_beyond_the_lexicon_are_translated_by_every_method(run, languages, method, direction):
    code, out, err = run(*ALIGN, "--method", method, "--direction", direction, "-o", "map")
    assert (code, out, err) == (0, "", "map: fitted on 40 pairs\n")
    for by in ((), ("--cosine",)):
        found = json.loads(run(*TRANSLATE, "a50", "a7", "-k", "3", *by, "--json", "-").out)
        assert [[t["word"] for t in word["translations"]][:1] for word in found["words"]] == [["b50"], ["b7"]]
        assert all(len(word["translations"]) == 3 for word in found["words"])


def test_the_options_reach_the_alignment(run, languages):
    assert run(*ALIGN, "-o", "usual").code == 0
    assert Alignment.load("usual").options == AlignmentOptions()
    own = ("--method", "ridge", "--ridge", "0.5", "--no-normalise", "--no-centre")
    assert run(*ALIGN, *own, "-o", "own").code == 0
    assert Alignment.load("own").options == AlignmentOptions("ridge", False, False, 0.5)


def test_what_an_alignment_is_worth_is_shown_before_it_is_fitted_on_all(run, languages):
    (languages / "en-fr.txt").write_text("".join(f"a{i} b{i}\n" for i in range(40)) + "zebra b3\n" * 20)
    code, out, err = run(*ALIGN, "--evaluate", "-o", "map", "--json", "result.json")
    assert code == 0
    assert "en.vec to fr.vec: 8 held-out words, by CSLS" in out
    assert [line.split() for line in out.splitlines() if "P@1" in line or "pairs" in line] == [
        ["fitted", "on", "P@1", "P@5", "P@10"],
        ["32", "pairs", "1.0000", "1.0000", "1.0000"],
    ]
    assert "map: fitted on 40 pairs\n1 pairs lack a vector on one side and are not fitted on\n" in err
    found = json.loads((languages / "result.json").read_text())
    assert found["evaluation"] == {
        "measures": {"P@1": 1.0, "P@5": 1.0, "P@10": 1.0}, "words": 8, "skipped": 0, "held_out": 0.2, "seed": 0,
        "by": "CSLS", "fitted_on": {"pairs": 32, "skipped": 1, "induced": 0},
    }  # fmt: skip
    assert found["alignment"] == {"path": "map", "pairs": 40, "skipped": 1, "induced": 0}
    assert found["options"]["method"] == "procrustes"
    assert Alignment.load("map").pairs == 40


def test_a_lexicon_that_is_wrong_shows(run, languages):
    (languages / "en-fr.txt").write_text("".join(f"a{i} b{(i * 17) % 40}\n" for i in range(40)))
    done = run(*ALIGN, "--evaluate", "--cosine", "--held-out", ".5", "--seed", "4", "--json", "-")
    found = json.loads(done.out)["evaluation"]
    assert (found["by"], found["words"], found["held_out"], found["seed"]) == ("cosine", 20, 0.5, 4)
    assert found["measures"]["P@1"] < 0.5


def test_evaluation_alone_writes_nothing(run, languages):
    before = sorted(languages.iterdir())
    code, out, _ = run(*ALIGN, "--evaluate", "--csls", "--held-out", "0.25")
    assert code == 0
    assert "10 held-out words" in out
    assert sorted(languages.iterdir()) == before


def test_pairs_are_those_of_the_most_frequent_words_one_translation_each(run, languages):
    wrong = "".join(f"a{i} b{(i * 17) % 40}\n" for i in range(20, 40))
    right = "".join(f"a{i} b{i}\na{i} b{i + 1}\n" for i in range(20))
    (languages / "en-fr.txt").write_text(wrong + right)
    assert run(*ALIGN, "--pairs", "20", "-o", "map").code == 0
    assert Alignment.load("map").pairs == 20
    assert (
        json.loads(run(*TRANSLATE, "a55", "-k", "1", "--json", "-").out)["words"][0]["translations"][0]["word"] == "b55"
    )


def test_pairs_may_be_evaluated_too_and_are_never_those_held_out(run, languages):
    found = json.loads(run(*ALIGN, "--pairs", "20", "--evaluate", "--json", "-").out)["evaluation"]
    assert (found["fitted_on"]["pairs"], found["words"], found["measures"]["P@1"]) == (20, 8, 1.0)


def test_refinement_adds_the_words_that_find_each_other(run, languages):
    code, _, err = run(*ALIGN, "--refine", "2", "-o", "map")
    assert code == 0
    assert "map: fitted on 60 pairs\n" in err
    assert "pairs that refinement added, round by round: 20\n" in err


def test_too_few_pairs_are_remarked(run, languages):
    (languages / "en-fr.txt").write_text("a1 b1\na2 b2\n")
    code, _, err = run(*ALIGN, "-o", "map")
    assert code == 0
    assert "2 pairs for 6 dimensions" in err


def test_vectors_of_unlike_dimensions_are_aligned_where_the_method_can(run, fails, languages):
    thin = read_vectors("fr.vec")
    write_vectors(WordVectors(thin.words, thin.matrix[:, :4]), "word2vec:fr.vec", overwrite=True)
    assert "the source has 6 and the target 4" in fails(*ALIGN, "-o", "map")
    assert run(*ALIGN, "--method", "ridge", "-o", "map").code == 0
    assert run(*TRANSLATE, "a1").code == 0


# nearest, translate


def test_the_nearest_words_are_shown_without_the_word_itself(run, here):
    (here / "v.txt").write_text("cat 1 0.1\nkitten 1 0.2\ndog 0.5 1\ncar -1 0\n")
    code, out, err = run("vectors", "nearest", "v.txt", "cat", "-k", "2")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "cat"
    assert [line.split()[0] for line in out.splitlines()[4:] if line.strip()] == ["kitten", "dog"]
    found = json.loads(run("vectors", "nearest", "v.txt", "cat", "car", "-k", "9", "--json", "-").out)
    assert (found["by"], found["unknown"]) == ("cosine", [])
    assert [[n["word"] for n in word["nearest"]] for word in found["words"]] == [
        ["kitten", "dog", "car"],
        ["dog", "kitten", "cat"],
    ]
    cosine = (1 + 0.02) / np.sqrt(1.01 * 1.04)
    assert found["words"][0]["nearest"][0]["score"] == pytest.approx(cosine, abs=1e-6)


def test_words_may_be_written_with_capitals_and_as_phrases(run, here):
    (here / "v.txt").write_text("hot 1 0\ndog 0 1\nsausage 1 1.1\nUlm 0.1 -1\nulm -1 -0.9\n")
    found = json.loads(run("vectors", "nearest", "v.txt", "Hot dog", "Ulm", "ULM", "-k", "1", "--json", "-").out)
    assert [(word["word"], word["nearest"][0]["word"]) for word in found["words"]] == [
        ("Hot dog", "sausage"),
        ("Ulm", "ulm"),
        ("ULM", "Ulm"),
    ]


def test_unknown_words_are_named_one_a_line(run, aligned):
    for command, name in ((("vectors", "nearest", "en.vec"), "en.vec"), (TRANSLATE, "en.vec")):
        code, out, err = run(*command, "a1", "zebra", "b1", "a1 zebra")
        assert code == 0
        assert out.startswith("a1\n")
        assert err.splitlines() == [f"{name}: has no vector for {word!r}" for word in ("zebra", "b1", "a1 zebra")]
        assert run(*command, "a1", "zebra", "--quiet").err == ""
        found = json.loads(run(*command, "a1", "zebra", "--json", "-").out)
        assert ([word["word"] for word in found["words"]], found["unknown"]) == (["a1"], ["zebra"])


def test_when_no_word_is_known_that_is_an_error(fails, aligned):
    for command in (("vectors", "nearest", "en.vec"), TRANSLATE):
        assert "en.vec: has no vector for 'zebra', 'b1'" in fails(*command, "zebra", "b1", "--json", "out.json")


def test_a_zero_vector_is_as_good_as_none(fails, here):
    (here / "v.txt").write_text("cat 1 0.1\nnothing 0 0\n")
    assert "has no vector for 'nothing'" in fails("vectors", "nearest", "v.txt", "nothing", "--quiet")


def test_csls_translates_where_a_hub_takes_every_cosine(run, here):
    """The French words lie apart but for one, which is near to all English words."""
    angles = np.radians([0, 40, 80])
    english = np.stack([np.cos(angles), np.sin(angles), np.zeros(3)], axis=1)
    french = english + np.array([0, 0, 1.2])
    hub = english.mean(axis=0)
    write_vectors(WordVectors(["a", "b", "c"], english.astype(np.float32)), "word2vec:en.vec")
    write_vectors(WordVectors(["hub", "x", "y", "z"], np.vstack([hub, french]).astype(np.float32)), "word2vec:fr.vec")
    options = AlignmentOptions("pinv", normalise=False, centre=False)
    Alignment(options, Preparation(), Preparation(), np.eye(3, dtype=np.float32), 3, 0).save("map")
    best = {}
    for by in ((), ("--cosine",)):
        found = json.loads(run(*TRANSLATE, "a", "c", "-k", "1", *by, "--json", "-").out)
        best[found["by"]] = [word["translations"][0]["word"] for word in found["words"]]
    assert best == {"CSLS": ["x", "z"], "cosine": ["hub", "hub"]}


# what can be wrong


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("vectors",), "train|convert|align|nearest|translate"),
        (("vectors", "burn"), "'burn'"),
        (("vectors", "train", "--language", "en", "-o", "out"), "--documents"),
        ((*TRAIN, "-o", "out", "--window", "0"), "--window: '0'"),
        ((*TRAIN, "-o", "out", "--smoothing", "2"), "--smoothing: '2' is not a number from 0 to 1"),
        ((*TRAIN, "-o", "out", "--smoothing", "nan"), "--smoothing: 'nan'"),
        ((*TRAIN, "-o", "out", "--format", "tape"), "'tape'"),
        (("vectors", "convert", "en.vec"), "-o"),
        ((*ALIGN, "-o", "out", "--method", "magic"), "'magic'"),
        ((*ALIGN, "-o", "out", "--method", "ridge", "--ridge", "0"), "--ridge: '0' is not a number above 0"),
        ((*ALIGN, "-o", "out", "--evaluate", "--held-out", "1"), "--held-out: '1' is not a number between 0 and 1"),
        ((*ALIGN, "-o", "out", "--evaluate", "--csls", "--cosine"), "--cosine"),
        (ALIGN, "-o DIR, --evaluate or both"),
        (("vectors", "nearest", "en.vec"), "WORD"),
        ((*TRANSLATE, "a1", "-k", "0"), "-k: '0'"),
    ],
)
def test_a_wrong_command_line_gets_one_line_and_the_way_to_the_help(fails, languages, arguments, wrong):
    message = fails(*arguments)
    assert wrong in message
    assert "see 'isogloss vectors" in message


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ((*TRAIN, "-o", "tape:x"), "'tape:x' is not one of word2vec:FILE, glove:FILE, binary:FILE"),
        ((*TRAIN, "-o", "word2vec:"), "'word2vec:' is not one of"),
        ((*TRAIN, "-o", "glove:x", "--format", "word2vec"), "'word2vec:glove:x'"),
        ((*TRAIN, "--documents", "tape:x", "-o", "out"), "nor one of wikiclir:"),
        ((*TRAIN, "--documents", "jsonl:nowhere", "-o", "out"), "nowhere: no such"),
        ((*TRAIN[:-4], "--minimum-count", "9999", "-o", "out"), "too little text"),
        (("vectors", "train", "--documents", "demo", "--language", "xx", "-o", "out"), "'xx'"),
        ((*TRAIN, "--fields", "body", "-o", "out"), "'body'"),
        (("vectors", "convert", "nowhere", "-o", "out"), "nowhere: no such file"),
        ((*ALIGN, "-o", "out", "--ridge", "2"), "--ridge: is for --method ridge, not procrustes"),
        ((*ALIGN, "-o", "out", "--held-out", ".5"), "--held-out: is for --evaluate"),
        ((*ALIGN, "-o", "out", "--cosine"), "--cosine: is for --evaluate"),
        ((*ALIGN, "-o", "out", "--seed", "0"), "--seed: is for --evaluate"),
        (("vectors", "align", "fr.vec", "en.vec", "--lexicon", "en-fr.txt", "-o", "out"), "none of the lexicon's 40"),
        (("vectors", "align", "fr.vec", "en.vec", *ALIGN[4:], "--pairs", "5", "-o", "out"), "en-fr.txt: no word that"),
        ((*ALIGN, "--evaluate", "--held-out", ".99"), "en-fr.txt: no word that en.vec knows is left"),
        ((*TRANSLATE, "a1"), "map: not an alignment"),
    ],
)
def test_a_value_that_means_nothing_here_is_named_with_what_would(fails, languages, arguments, wrong):
    assert wrong in fails(*arguments)


@pytest.mark.parametrize("harm", ["cut", "mismatch", "binary"])
def test_damaged_vectors_are_named(fails, aligned, harm):
    content = (aligned / "en.vec").read_bytes()
    hurt = {"cut": content[: len(content) // 2], "mismatch": content + b"more 1 2 3\n", "binary": b"\x00\x01" * 50}
    (aligned / "en.vec").write_bytes(hurt[harm])
    for command in (("vectors", "convert", "en.vec", "-o", "out"), (*ALIGN, "-o", "out"), (*TRANSLATE, "a1")):
        assert "en.vec" in fails(*command)


def test_a_cut_archive_is_named(fails, languages):
    (languages / "en.gz").write_bytes(gzip.compress((languages / "en.vec").read_bytes())[:-40])
    assert "en.gz" in fails("vectors", "convert", "en.gz", "-o", "out")


@pytest.mark.parametrize("name", ["matrix.npy", "words.bytes.npy", "words.offsets.npy"])
def test_a_damaged_directory_is_named(run, fails, languages, name):
    run("vectors", "convert", "en.vec", "-o", "en")
    content = (languages / "en" / name).read_bytes()
    (languages / "en" / name).write_bytes(content[: len(content) // 2])
    assert "en: not word vectors" in fails("vectors", "nearest", "en", "a1")


@pytest.mark.parametrize(
    ("content", "wrong"),
    [("", "holds no entry"), ("one\n", ":1: expected a word"), ("x y\n", "none of the lexicon's 1")],
)
def test_a_lexicon_that_is_of_no_use_is_an_error(fails, languages, content, wrong):
    (languages / "en-fr.txt").write_text(content)
    assert wrong in fails(*ALIGN, "-o", "map")


def test_vectors_of_other_dimensions_than_the_alignment_s_are_named(fails, aligned):
    (aligned / "fr.vec").write_text("b1 1 2 3\n")
    assert "fr.vec: has vectors of 3 dimensions, map takes 6 here" in fails(*TRANSLATE, "a1")


@pytest.mark.parametrize(
    ("arguments", "old"),
    [
        ((*TRAIN, "-o", "out"), "out/diary"),
        ((*TRAIN, "-o", "word2vec:out"), "out"),
        (("vectors", "convert", "en.vec", "-o", "out"), "out/diary"),
        (("vectors", "convert", "en.vec", "-o", "binary:out"), "out"),
        ((*ALIGN, "-o", "out"), "out/diary"),
        ((*ALIGN, "--evaluate", "--json", "out"), "out"),
        (("vectors", "nearest", "en.vec", "a1", "--json", "out"), "out"),
        ((*TRANSLATE, "a1", "--json", "out"), "out"),
    ],
)
def test_an_existing_output_is_replaced_only_on_request(run, fails, aligned, arguments, old):
    if "/" in old:
        assert run(*arguments).code == 0
    (aligned / old).write_text("dear diary")
    assert "out: exists and is not empty; choose another output or add --overwrite" in fails(*arguments)
    assert run(*arguments, "--overwrite").code == 0
    assert not (aligned / old).exists() or (aligned / old).read_bytes() != b"dear diary"


def test_a_file_for_a_directory_and_the_reverse_are_refused_before_the_work(fails, languages, monkeypatch):
    monkeypatch.setattr("isogloss.papers.word_vectors.training.train_vectors", None)
    (languages / "folder").mkdir()
    assert "en.vec: is a file, a directory is needed" in fails(*TRAIN, "-o", "en.vec", "--overwrite")
    assert "folder: is a directory, a file name is needed" in fails(*TRAIN, "-o", "word2vec:folder")


def test_no_output_replaces_what_it_is_made_of(run, fails, languages):
    run("vectors", "convert", "en.vec", "-o", "en")
    assert "which would be lost" in fails("vectors", "convert", "en", "--limit", "5", "-o", "en", "--overwrite")
    assert "which would be lost" in fails("vectors", "align", "en", *ALIGN[3:], "-o", "en", "--overwrite")
    assert "which would be lost" in fails(*TRAIN, "-o", ".", "--overwrite")


def test_an_alignment_whose_report_cannot_be_written_is_not_left_behind(fails, languages):
    (languages / "taken").mkdir()
    assert "taken: is a directory" in fails(*ALIGN, "-o", "map", "--json", "taken")


@pytest.mark.parametrize(
    "command", [(*TRAIN, "-o", "out"), ("vectors", "convert", "en.vec", "-o", "word2vec:out")], ids=["train", "convert"]
)
def test_a_full_disk_leaves_nothing(fails_alone, languages, command):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))"
    assert "out: could not be written" in fails_alone(*command, script=limit)
