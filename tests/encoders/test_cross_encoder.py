"""Cross-encoders: what sentence-transformers makes of the same pairs, and re-ranking by it."""

import json

import numpy as np
import pytest

import isogloss
from isogloss.encoders.cross_encoder import CrossEncoder
from isogloss.search.reranking import load_reranker
from isogloss.storage.errors import InputError

QUERIES = ["bees", "why is the sea salty", ""]
TEXTS = [
    "a volcano",
    "The bees make honey in summer, and they carry it into the salty sea, year after year",
    "honey",
    "",
]


@pytest.mark.parametrize("name", ["cross", "cross-onnx", "cross-onnx/model.onnx"])
def test_scores_are_those_of_sentence_transformers(folder, name):
    import sentence_transformers

    reference = sentence_transformers.CrossEncoder(str(folder / "cross"), device="cpu")
    expected = [[reference.predict((query, text)) for text in TEXTS] for query in QUERIES]
    np.testing.assert_allclose(CrossEncoder(str(folder / name)).score_texts(QUERIES, TEXTS), expected, atol=1e-5)


def test_a_model_without_token_types_has_none(changed):
    plain = {"tokenizer_config.json": {"model_input_names": ["input_ids", "attention_mask"]}}
    found = [CrossEncoder(str(changed(name, plain))).score_texts(QUERIES, TEXTS) for name in ("cross", "cross-onnx")]
    np.testing.assert_allclose(*found, atol=1e-5)


def test_the_activation_is_that_of_the_model(folder, changed):
    plain = {"config.json": {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}}
    logits, torch = (
        CrossEncoder(str(changed(name, plain))).score_texts(QUERIES, TEXTS) for name in ("cross-onnx", "cross")
    )
    np.testing.assert_allclose(torch, logits, atol=1e-5)
    found = CrossEncoder(str(folder / "cross-onnx")).score_texts(QUERIES, TEXTS)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-logits)), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "contents", "complaint"),
    [
        ("dense", {}, "is not a cross-encoder .*; encoders make vectors: pretrained="),
        ("static", {}, "is not a cross-encoder"),
        ("cross-onnx", {"config.json": {"id2label": {"0": "no", "1": "yes"}}}, "has 2 labels"),
    ],
)
def test_what_cannot_rank_is_refused(changed, name, contents, complaint):
    with pytest.raises(InputError, match=complaint):
        CrossEncoder(str(changed(name, contents)))


@pytest.mark.parametrize("name", ["nobody/nothing", "runs/none"])
def test_a_model_that_is_not_there_is_not_downloaded(name):
    with pytest.raises(InputError, match=f"fetch it: hf download {name}$"):
        load_reranker(name)


def test_hits_of_any_language_are_reordered_and_explained(folder):
    lexicon = {"bees": ["abejas", "abeilles"], "honey": ["miel"]}
    documents = {"es": ["Las abejas hacen miel.", "La miel dura."], "fr": ["Les abeilles font du miel."]}
    index = isogloss.Index.make(
        [{"id": f"{language}{number}", "text": text, "lang": language}
         for language, texts in documents.items() for number, text in enumerate(texts)],
        system="psq", lexicon=lexicon,
    )  # fmt: skip
    before = {hit.document.id for hit in index.search("bees honey")}
    hits = index.rerank(folder / "cross-onnx").search("bees honey", explain=False)
    assert {hit.document.id for hit in hits} == before
    scores = CrossEncoder(str(folder / "cross-onnx")).score_texts(["bees honey"], [hit.document.text for hit in hits])[
        0
    ]
    np.testing.assert_allclose([hit.score for hit in hits], scores, atol=1e-6)
    assert scores.tolist() == sorted(scores, reverse=True)
    assert all(hit.reranked for hit in hits)
    lines = index.explain("bees honey", hits[0].document.id, hits[0].language, reranked=True)
    assert sum(line.score for line in lines) == pytest.approx(hits[0].score, abs=1e-5)
    assert index.rerank(None).search("bees honey", explain=False)[0].reranked is False


def test_a_run_of_isogloss_is_still_a_run(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"system": "layerwise"}))
    with pytest.raises(InputError, match="the model is damaged"):
        load_reranker(tmp_path)
