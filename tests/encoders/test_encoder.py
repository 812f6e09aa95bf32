"""Vectors of models of others: what their own library makes of the same texts."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isogloss.encoders.pretrained_encoder import PretrainedEncoder, with_named_models
from isogloss.storage.errors import InputError

TEXTS = [
    "The bees make honey in summer",
    "a volcano",
    "The sea is salty because rivers carry the salt of rocks into it, year after year, and it never leaves the sea",
    "",
    "bees",
    "Honey, made by bees!",
    " \n",
    "bees",
]
KEPT = [row for row, text in enumerate(TEXTS) if text.strip()]


def encoder_of(path):
    return PretrainedEncoder(with_named_models({"pretrained": str(path)})["pretrained"])


@pytest.fixture(scope="module")
def reference(folder):
    """The vectors that sentence-transformers makes of texts, one at a time; pooling can be another."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder / "dense"), device="cpu")

    def encoded(texts, is_query, mode="mean", include_prompt=True):
        model[1].pooling_mode, model[1].include_prompt = mode, include_prompt
        encode = model.encode_query if is_query else model.encode_document
        return np.stack([encode(text, normalize_embeddings=True, show_progress_bar=False) for text in texts])

    return encoded


@pytest.mark.parametrize("name", ["dense", "onnx"])
def test_vectors_are_those_of_sentence_transformers(folder, reference, name):
    """With prompts, truncation, padding and batches in another order; an empty text has none."""
    encoder = encoder_of(folder / name)
    for is_query, encode in ((True, encoder.encode_queries), (False, encoder.encode_documents)):
        found = encode(TEXTS)
        np.testing.assert_allclose(found[KEPT], reference([TEXTS[row] for row in KEPT], is_query), atol=1e-5)
        assert not found[[row for row in range(len(TEXTS)) if row not in KEPT]].any()
    assert np.abs(encoder.encode_queries(TEXTS) - encoder.encode_documents(TEXTS)).max() > 0.1  # other prompts


@pytest.mark.parametrize("include_prompt", [True, False])
@pytest.mark.parametrize("mode", ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"])
def test_every_way_of_pooling_is_that_of_sentence_transformers(changed, reference, mode, include_prompt):
    copy = changed("onnx", {"1_Pooling/config.json": {"pooling_mode": mode, "include_prompt": include_prompt}})
    encoder, texts = encoder_of(copy), [text for text in TEXTS if len(text) > 4]
    for is_query, encode in ((True, encoder.encode_queries), (False, encoder.encode_documents)):
        np.testing.assert_allclose(encode(texts), reference(texts, is_query, mode, include_prompt), atol=1e-5)


def test_an_older_form_of_the_configuration_means_the_same(changed):
    new = {"1_Pooling/config.json": {"pooling_mode": ["cls", "max"], "embedding_dimension": 16}}
    old = {"pooling_mode": None, "pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}
    modules = [{"path": "", "type": "sentence_transformers.models.Transformer"}]
    modules += [{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]
    found = []
    for pooling in (new, {"1_Pooling/config.json": old}):
        onnx = changed("onnx", {"modules.json": modules, **pooling})
        found.append(encoder_of(onnx).encode_documents(TEXTS))
    assert found[0].shape == (len(TEXTS), 32)
    np.testing.assert_allclose(*found, atol=1e-6)


def test_a_bare_model_is_pooled_by_the_mean(folder):
    onnx, bert = (encoder_of(folder / name).encode_documents(TEXTS) for name in ("bert-onnx", "bert"))
    np.testing.assert_allclose(onnx, bert, atol=1e-5)


def test_an_export_is_what_onnxruntime_and_numpy_make_of_it(folder):
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "bert-onnx" / "tokenizer.json"))
    session = onnxruntime.InferenceSession(str(folder / "bert-onnx" / "model.onnx"))
    read = tokenizer.encode(TEXTS[0])
    fed = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
    (tokens,) = session.run(None, {name: np.asarray([value]) for name, value in fed.items()})
    mean = tokens[0].mean(axis=0)
    found = encoder_of(folder / "bert-onnx" / "model.onnx").encode_documents(TEXTS)[0]
    np.testing.assert_allclose(found, mean / np.linalg.norm(mean), atol=1e-5)


def test_a_static_model_is_what_model2vec_makes_of_it(folder):
    from model2vec import StaticModel

    found = encoder_of(folder / "static").encode_documents(TEXTS)
    expected = StaticModel.from_pretrained(folder / "static").encode(TEXTS)
    expected /= np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1e-9)
    np.testing.assert_allclose(found[KEPT], expected[KEPT], atol=1e-6)


def test_a_prompt_is_written_before_texts_of_a_static_model(folder, changed):
    copy = changed("static", {"config_sentence_transformers.json": {"prompts": {"query": "honey ", "passage": "sea "}}})
    prompted, plain = encoder_of(copy), encoder_of(folder / "static")
    np.testing.assert_allclose(prompted.encode_queries(["bees"]), plain.encode_queries(["honey bees"]), atol=1e-6)
    np.testing.assert_allclose(prompted.encode_documents(["bees"]), plain.encode_documents(["sea bees"]), atol=1e-6)


def test_a_model_for_products_keeps_the_lengths_of_its_vectors(folder, changed):
    copy = changed("bert-onnx", {"config_sentence_transformers.json": {"similarity_fn_name": "dot"}})
    found, unit = (encoder_of(path).encode_documents(TEXTS)[KEPT] for path in (copy, folder / "bert-onnx"))
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    assert np.ptp(lengths) > 0.01
    np.testing.assert_allclose(found / lengths, unit, atol=1e-5)


@pytest.mark.parametrize("name", ["onnx", "static"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text("abe honysc\n的é\ud800", max_size=60), max_size=40))
def test_a_vector_depends_on_its_text_alone(folder, name, texts):
    """Whatever else is encoded with it, in whatever order; each is unit long, or zero."""
    encoder = encoder_of(folder / name)
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    together = encoder.encode_documents(texts, keep=False)
    for row, text in enumerate(texts):
        np.testing.assert_allclose(together[row], encoder.encode_documents([text], keep=False)[0], atol=1e-5)
    lengths = np.linalg.norm(together, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-4) | (lengths == 0))


def test_a_cross_encoder_is_no_encoder(folder):
    with pytest.raises(InputError, match=r"is a cross-encoder, which makes no vectors; re-rank by it: Index.rerank"):
        encoder_of(folder / "cross").encode_queries(["bees"])


@pytest.mark.parametrize(
    ("name", "file"), [("dense", "model.safetensors"), ("onnx", "onnx/model.onnx"), ("static", "tokenizer.json")]
)
def test_a_damaged_model_is_one_sentence(changed, name, file):
    copy = changed(name, {})
    (copy / file).write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"cannot load this model \([^\n]+\)$"):
        encoder_of(copy).encode_queries(["bees"])
