"""IBM model 1: the formulas written out slowly, what expectation maximisation promises, and the obvious alignment."""

import math
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from isogloss.text.batches import tokenize_texts
from isogloss.translation import word_alignment
from isogloss.translation.word_alignment import Model1, align_words, blocks_mapped_by

HOUSES = [("la maison", "the house"), ("la fleur", "the flower"), ("la maison bleue", "the blue house")]
HOUSES += [("fleur bleue", "blue flower")]

WORDS = st.lists(st.sampled_from("abcde"), max_size=9)
TEXTS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6).filter(
    lambda pairs: any(source and target for source, target in pairs)
)


def sides(pairs):
    joined = [[text if isinstance(text, str) else " ".join(text) for text in side] for side in zip(*pairs, strict=True)]
    return [tokenize_texts(side) for side in joined]


def table(found, source, target):
    """(source word, target word) to its two probabilities."""
    arrays = (array.tolist() for array in found)
    return {(source.terms[s], target.terms[t]): (f, b) for s, t, f, b in zip(*arrays, strict=True)}


def nearness(length, other, i, j, window):
    """exp(-d_ij / w), or 0 beyond the whole word at which the window ends."""
    scale = length / other
    unit = max(1.0, scale)
    centre = (j + 0.5) * scale
    low, high = max(0, math.floor(centre - window * unit)), min(length, math.ceil(centre + window * unit))
    return math.exp(-abs(i + 0.5 - centre) / (window * unit)) if low <= i < high else 0.0


def slow_round(pairs, meetings, probability, null_probability, null):
    """One round of p(target | source), word by word; the log likelihood before it."""
    counts, null_counts, likelihood = Counter(), Counter(), 0.0
    for (source, target), near in zip(pairs, meetings, strict=True):
        for j, word in enumerate(target):
            weights = {i: near[i, j] for i in range(len(source)) if near[i, j]}
            width = sum(weights.values())
            parts = {i: (1 - null) * a / width * probability[source[i], word] for i, a in weights.items()}
            total = null * null_probability[word] + sum(parts.values())
            likelihood += math.log(total)
            null_counts[word] += null * null_probability[word] / total
            for i, part in parts.items():
                counts[source[i], word] += part / total
    sums = Counter()
    for (given_word, _), count in counts.items():
        sums[given_word] += count
    total = sum(null_counts.values())
    return (
        {pair: count / sums[pair[0]] for pair, count in counts.items()},
        {word: count / total for word, count in null_counts.items()},
        likelihood,
    )


def slow_model(pairs, meetings, rounds, null):
    near = defaultdict(set)
    for (source, target), meeting in zip(pairs, meetings, strict=True):
        for (i, j), value in meeting.items():
            if value:
                near[source[i]].add(target[j])
    words = {word for _, target in pairs for word in target}
    probability = {(s, t): 1 / len(targets) for s, targets in near.items() for t in targets}
    null_probability = dict.fromkeys(words, 1 / len(words)) if words else {}
    for _ in range(rounds):
        probability, null_probability, likelihood = slow_round(pairs, meetings, probability, null_probability, null)
    return probability, likelihood


@given(pairs=TEXTS, window=st.integers(1, 4), null=st.sampled_from([0.1, 0.5]))
@settings(deadline=None, max_examples=30)
def test_both_directions_follow_the_equations(pairs, window, null):
    source, target = sides(pairs)
    model = Model1(source, target, window, null, floor=0)
    for _ in range(3):
        likelihoods = model.step()
    forward_meetings = [
        {(i, j): nearness(len(s), len(t), i, j, window) for i in range(len(s)) for j in range(len(t))} for s, t in pairs
    ]
    backward_meetings = [{(j, i): value for (i, j), value in meeting.items()} for meeting in forward_meetings]
    forward, first = slow_model(pairs, forward_meetings, 3, null)
    backward, second = slow_model([(t, s) for s, t in pairs], backward_meetings, 3, null)
    assert table(model.pairs(), source, target) == {
        (s, t): pytest.approx((value, backward[t, s])) for (s, t), value in forward.items()
    }
    assert likelihoods == pytest.approx((first, second))


@given(pairs=TEXTS, window=st.integers(1, 30))
@settings(deadline=None, max_examples=30)
def test_the_likelihood_never_falls(pairs, window):
    model = Model1(*sides(pairs), window, floor=0)
    rounds = [model.step() for _ in range(8)]
    for before, after in pairwise(rounds):
        assert after[0] >= before[0] - 1e-9
        assert after[1] >= before[1] - 1e-9


@given(pairs=TEXTS, floor=st.sampled_from([0, 1e-4, 0.2]))
@settings(deadline=None, max_examples=30)
def test_the_translations_of_a_word_add_up_to_one_in_both_directions(pairs, floor):
    source, target = sides(pairs)
    model = Model1(source, target, floor=floor)
    for _ in range(4):
        model.step()
        found = model.pairs()
        for given_words, probabilities in ((found.sources, found.forward), (found.targets, found.backward)):
            sums = np.bincount(given_words, probabilities)[np.unique(given_words)]
            assert sums == pytest.approx(np.ones(len(sums)))


def test_a_toy_corpus_converges_to_the_obvious_alignment():
    source, target = sides(HOUSES)
    found = table(align_words(source, target, iterations=40), source, target)
    obvious = {("la", "the"), ("maison", "house"), ("fleur", "flower"), ("bleue", "blue")}
    assert all(min(found[pair]) > 0.98 for pair in obvious)
    assert {pair for pair, (forward, backward) in found.items() if min(forward, backward) > 0.05} == obvious


def test_a_word_without_a_counterpart_comes_from_nowhere():
    """'do' has no translation; with NULL no word has to give it."""
    pairs = [("katzen schlafen", "do cats sleep"), ("hunde bellen", "do dogs bark"), ("vögel singen", "do birds sing")]
    pairs += [("katzen singen", "do cats sing"), ("hunde schlafen", "do dogs sleep"), ("vögel bellen", "do birds bark")]
    source, target = sides(pairs)
    found = table(align_words(source, target, iterations=30, null=0.4), source, target)
    assert max(forward for (_, word), (forward, _) in found.items() if word == "do") < 0.05
    assert min(found["katzen", "cats"]) > 0.95


def test_only_words_near_each_other_meet():
    numbers = [f"n{i}" for i in range(100)]
    source, target = sides([(numbers, [word.replace("n", "m") for word in numbers])])
    found = align_words(source, target, iterations=1, window=3)
    assert np.abs(found.sources - found.targets).max() == 3
    assert len(found.sources) < 100 * 8


def test_pairs_that_become_unlikely_in_both_directions_are_dropped():
    source, target = sides(HOUSES)
    few, all_ = (Model1(source, target, floor=floor) for floor in (0.05, 0))
    for _ in range(30):
        few.step()
        all_.step()
    assert len(few.pairs().sources) == 4 < len(all_.pairs().sources)


@given(pairs=TEXTS)
@settings(deadline=None, max_examples=30)
def test_how_texts_are_put_into_blocks_changes_nothing(pairs):
    source, target = sides(pairs)
    whole = align_words(source, target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_alignment, "_BLOCK_MEETINGS", 3)
        cut = align_words(source, target)
    assert cut.sources.tolist() == whole.sources.tolist()
    assert cut.targets.tolist() == whole.targets.tolist()
    assert cut.forward == pytest.approx(whole.forward)
    assert cut.backward == pytest.approx(whole.backward)


def test_a_very_long_text_is_cut_in_proportion_and_aligned_all_the_same():
    rng = np.random.default_rng(0)
    numbers = rng.integers(40, size=6000).tolist()
    source, target = sides([([f"n{i}" for i in numbers], [f"m{i}" for i in numbers])])
    found = table(align_words(source, target, iterations=15), source, target)
    assert all(min(found[f"n{i}", f"m{i}"]) > 0.9 for i in set(numbers))


def test_texts_without_words_take_no_part():
    source, target = sides([("maison", "house"), ("", "stray words"), ("mots perdus", ""), ("", "")])
    assert table(align_words(source, target), source, target) == {("maison", "house"): (1.0, 1.0)}
    source, target = sides([("", "")])
    assert len(align_words(source, target).sources) == 0


@pytest.mark.parametrize("options", [{"window": 0}, {"null": 0.0}, {"null": 1.0}])
def test_impossible_options_are_refused(options):
    with pytest.raises(ValueError, match="are needed"):
        Model1(*sides(HOUSES), **options)


def test_the_sides_must_have_as_many_texts():
    with pytest.raises(ValueError, match="as many texts"):
        Model1(tokenize_texts(["a"]), tokenize_texts([]))


def test_whoever_maps_the_blocks_the_result_is_the_same_to_the_last_bit(monkeypatch):
    """Blocks travel as safetensors, as they do to other machines, and are computed in another order."""
    rng, computed = np.random.default_rng(0), []
    numbers = [rng.integers(30, size=rng.integers(1, 12)).tolist() for _ in range(60)]
    source, target = sides([([f"n{i}" for i in each], [f"m{i}" for i in each[::-1]]) for each in numbers])
    monkeypatch.setattr(word_alignment, "_BLOCK_MEETINGS", 200)

    def backwards(function, blocks):
        sent = [save(block) for block in blocks]
        computed.append(len(sent))
        return map(load, [save(function(load(block))) for block in reversed(sent)][::-1])

    here = align_words(source, target)
    with blocks_mapped_by(backwards):
        there = align_words(source, target)
    assert computed == [computed[0]] * 6
    assert computed[0] > 5
    assert all(mine.tobytes() == other.tobytes() for mine, other in zip(here, there, strict=True))
