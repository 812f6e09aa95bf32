"""TREC run files: what is written, what is read, what is refused."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.documents import id_order
from isogloss.evaluation.run import Run
from isogloss.retrieval.ranking import Ranking, top_k
from isogloss.storage.errors import InputError

words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5)
finite = st.floats(allow_nan=False, allow_infinity=False)


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def as_lists(run):
    return {query: (run.documents(query), scores.tolist()) for query, (_, scores) in run.rankings.items()}


def test_a_run_file_has_six_columns_ranks_from_1_and_the_name_of_the_system(tmp_path, make_run):
    make_run({"q1": ["b", "a"], "q2": ["é"], "q3": []}).write(tmp_path / "deep" / "run.trec")
    assert (tmp_path / "deep" / "run.trec").read_text(encoding="utf-8") == (
        "q1 Q0 b 1 -0.0 made\nq1 Q0 a 2 -1.0 made\nq2 Q0 é 1 -0.0 made\n"
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_run_comes_back_from_its_file_as_it_was(tmp_path_factory, dtype, data):
    ids = data.draw(st.lists(words, min_size=1, max_size=8, unique=True))
    width = 32 if dtype == np.float32 else 64
    scores = st.lists(
        st.floats(allow_nan=False, allow_infinity=False, width=width), min_size=len(ids), max_size=len(ids)
    )
    order = id_order(ids)
    rankings = {
        query: top_k(np.asarray(values, dtype=dtype), len(ids), order)
        for query, values in data.draw(st.dictionaries(words, scores, max_size=3)).items()
    }
    run, path = Run("name", ids, rankings.items()), tmp_path_factory.mktemp("run") / "run.trec"
    run.write(path)
    again = Run.read(path)
    assert {query: run.documents(query) for query in rankings} == {query: again.documents(query) for query in rankings}
    for query, (_, values) in rankings.items():
        assert again.rankings[query].scores.astype(dtype).tolist() == values.tolist()
    assert again.name == ("name" if rankings else "run")


def test_scores_that_differ_in_the_last_bit_keep_their_order_through_a_file(tmp_path):
    near = np.nextafter(0.5, 1.0)
    Run("x", ["a", "b"], [("q", Ranking(np.asarray([1, 0]), np.asarray([near, 0.5])))]).write(tmp_path / "run")
    assert Run.read(tmp_path / "run").documents("q") == ["b", "a"]


def test_the_order_is_that_of_the_scores_and_empty_lines_are_passed_over(tmp_path):
    path = write(tmp_path / "run", "q Q0 low 1 -3 sys", "", "q\tQ0  high 2\t1e2 sys ", "   ", "p Q0 low 1 0 sys")
    assert as_lists(Run.read(path)) == {"q": (["high", "low"], [100.0, -3.0]), "p": (["low"], [0.0])}


def test_a_gzipped_run_file_is_read(tmp_path):
    (tmp_path / "run.trec.gz").write_bytes(gzip.compress(b"q Q0 d 1 0.5 sys\n"))
    assert Run.read(tmp_path / "run.trec.gz").documents("q") == ["d"]


def test_a_query_that_is_not_in_the_run_has_no_documents(make_run):
    assert make_run({"q": ["d"]}).documents("other") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q Q0 d 1 0.5", "expected query, Q0, document, rank, score and name, got 'q Q0 d 1 0.5'"),
        ("q Q0 d 1 0.5 sys more", "expected query, Q0, document, rank, score and name"),
        ("q Q0 d 1 high sys", "expected query, Q0, document, rank, score and name"),
        ("q Q0 d 1 nan sys", "the score 'nan' is not a finite number"),
        ("q Q0 d 1 -inf sys", "the score '-inf' is not a finite number"),
        ("q Q0 good 1 0.2 sys", "document 'good' is ranked a second time for query 'q'"),
    ],
)
def test_a_bad_line_is_an_input_error_that_names_the_line(tmp_path, line, message):
    path = write(tmp_path / "run.trec", "q Q0 good 1 0.9 sys", line)
    with pytest.raises(InputError) as error:
        Run.read(path)
    assert str(error.value).startswith(f"{path}:2: {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"q Q0 \xff 1 1 s\n", "not UTF-8"),
        (b"\x00\x01\x02", "binary"),
        (gzip.compress(b"q Q0 d 1 1 s\n", mtime=0)[:-9], "cut off"),
    ],
)
def test_a_file_that_is_not_text_is_an_input_error(tmp_path, content, message):
    (tmp_path / "run.trec").write_bytes(content)
    with pytest.raises(InputError, match=message):
        Run.read(tmp_path / "run.trec")


def test_a_run_file_that_does_not_exist_or_is_a_directory_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Run.read(tmp_path / "none.trec")
    with pytest.raises(InputError, match="is a directory"):
        Run.read(tmp_path)


def test_an_existing_run_file_is_kept_unless_it_may_be_overwritten(tmp_path, make_run):
    path = write(tmp_path / "run.trec", "precious")
    with pytest.raises(InputError, match="exists and is not empty"):
        make_run({"q": ["d"]}).write(path)
    assert path.read_text() == "precious\n"
    make_run({"q": ["d"]}).write(path, overwrite=True)
    assert Run.read(path).documents("q") == ["d"]


@pytest.mark.parametrize("ranked", [{"two words": ["d"]}, {"q": ["no\u00a0break"]}, {"q": [""]}])
def test_an_id_that_a_run_file_cannot_hold_is_an_input_error_and_nothing_is_written(tmp_path, make_run, ranked):
    with pytest.raises(InputError, match="has white space"):
        make_run(ranked).write(tmp_path / "run.trec")
    assert list(tmp_path.iterdir()) == []
