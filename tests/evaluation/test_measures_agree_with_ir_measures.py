"""Every measure against ir-measures, on random runs with graded judgments and without ties."""

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, P, Qrel, R, Rprec, ScoredDoc, Success, nDCG

from isogloss.data.documents import Judgment
from isogloss.data.judgments import Judgments
from isogloss.evaluation.measures import MEASURES, gather_gains, measure
from isogloss.evaluation.run import Run

THEIRS = {
    "P_mr@1": Success(rel=2) @ 1,
    "P_mr@5": Success(rel=2) @ 5,
    "P_r@5": P @ 5,
    "NDCG@5": nDCG @ 5,
    "MAP": AP,
    "MRR_mr": RR(rel=2),
    "MRR_r": RR,
    "R_mr@10": R(rel=2) @ 10,
    "P@10": P @ 10,
    "Rprec": Rprec,
    "nDCG@10": nDCG @ 10,
    "R@100": R @ 100,
    "R@1000": R @ 1000,
}


def random_case(seed, documents, depth):
    """Judgments of 30 queries (one without a run, one with an empty list, one with grade 0 only) and rankings."""
    rng = np.random.default_rng(seed)
    ids = [f"d{number}" for number in range(documents)]
    judgments, ranked = [], {}
    for number in range(30):
        query = f"q{number}"
        judged = rng.choice(documents, size=rng.integers(1, 25), replace=False)
        grades = np.zeros(len(judged), int) if number == 2 else rng.choice(3, size=len(judged), p=[0.3, 0.5, 0.2])
        judgments += [Judgment(query, ids[d], int(g)) for d, g in zip(judged, grades, strict=True)]
        if number:
            # judged documents are drawn more often, so that rankings are neither empty nor perfect
            score = rng.random(documents)
            score[judged] += rng.random(len(judged)) * 0.9
            ranked[query] = [ids[row] for row in np.argsort(-score)[: 0 if number == 1 else rng.integers(1, depth + 1)]]
    return judgments, ranked


def theirs(judgments, ranked):
    qrels = [Qrel(*judgment) for judgment in judgments]
    run = [ScoredDoc(q, d, -float(place)) for q, documents in ranked.items() for place, d in enumerate(documents)]
    return {(m.measure, m.query_id): m.value for m in ir_measures.iter_calc(list(THEIRS.values()), qrels, run)}


def test_every_measure_is_compared():
    assert set(THEIRS) == set(MEASURES)


@pytest.mark.parametrize(("seed", "documents", "depth"), [(0, 40, 40), (1, 300, 200), (2, 1500, 1500), (3, 60, 8)])
def test_every_measure_agrees_query_by_query(seed, documents, depth, make_run):
    judgments, ranked = random_case(seed, documents, depth)
    queries = sorted({judgment.query for judgment in judgments})
    ours = measure(gather_gains(make_run(ranked), Judgments(judgments, top_grade=2), queries))
    expected = theirs(judgments, ranked)
    for name, values in ours.items():
        np.testing.assert_allclose(
            values, [expected[THEIRS[name], query] for query in queries], rtol=1e-9, atol=1e-12, err_msg=name
        )


def test_queries_missing_from_the_run_score_zero_and_lower_the_mean(make_run):
    judgments, ranked = random_case(4, 100, 50)
    gains = gather_gains(make_run(ranked), Judgments(judgments, top_grade=2), ["q0", "q1", "q2", "q3"])
    for name, values in measure(gains).items():
        assert values[:3].tolist() == [0, 0, 0], name
    aggregate = ir_measures.calc_aggregate(
        list(THEIRS.values()),
        [Qrel(*judgment) for judgment in judgments],
        [ScoredDoc(q, d, -float(place)) for q, documents in ranked.items() for place, d in enumerate(documents)],
    )
    everything = measure(gather_gains(make_run(ranked), Judgments(judgments, 2), [f"q{n}" for n in range(30)]))
    assert {name: values.mean() for name, values in everything.items()} == pytest.approx(
        {name: aggregate[their] for name, their in THEIRS.items()}
    )


def test_ir_measures_reads_our_run_files_to_the_same_values(tmp_path, make_run):
    judgments, ranked = random_case(5, 200, 100)
    make_run(ranked).write(tmp_path / "run.trec")
    from_file = list(ir_measures.read_trec_run(str(tmp_path / "run.trec")))
    qrels = [Qrel(*judgment) for judgment in judgments]
    queries = sorted({judgment.query for judgment in judgments})
    ours = measure(gather_gains(Run.read(tmp_path / "run.trec"), Judgments(judgments, 2), queries))
    aggregate = ir_measures.calc_aggregate(list(THEIRS.values()), qrels, from_file)
    assert {name: values.mean() for name, values in ours.items()} == pytest.approx(
        {name: aggregate[their] for name, their in THEIRS.items()}
    )
