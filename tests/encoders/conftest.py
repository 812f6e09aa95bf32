"""Tiny models with random weights, which the tests make themselves."""

import json
import shutil
import warnings

import numpy as np
import pytest

TEXTS = [
    "The bees make honey in summer",
    "a volcano",
    "The sea is salty because rivers carry the salt of rocks into it, year after year, and it never leaves the sea",
    "bees",
    "Honey, made by bees!",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
LONGEST = 12  # tokens that the models read


def word_pieces():
    """A WordPiece tokenizer as BERT has it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=SPECIAL, show_progress=False)
    made.train_from_iterator([*TEXTS, "query: passage: les abeilles font du miel"], trainer)
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def configuration(tokenizer, **more):
    from transformers import BertConfig

    return BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, initializer_range=0.5, **more,
    )  # fmt: skip


def export(network, folder, output):
    """Write ``model.onnx``."""
    import torch

    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, input_ids, token_type_ids, attention_mask):
            made = self.network(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
            return getattr(made, output)

    tokens = torch.ones(2, 5, dtype=torch.long)
    mask = tokens.clone()
    mask[1, 3:] = 0
    axes = {name: {0: "texts", 1: "tokens"} for name in INPUTS}
    axes[output] = {0: "texts"} if output == "logits" else axes["input_ids"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, about itself
        torch.onnx.export(
            Wrapped().eval(), (tokens, 0 * tokens, mask), folder / "model.onnx", input_names=INPUTS,
            output_names=[output], dynamic_axes=axes, dynamo=False,
        )  # fmt: skip


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with a model of each kind; ``dense`` and ``onnx`` have the same weights, and so has each export."""
    for package in ("sentence_transformers", "onnxruntime", "onnx", "model2vec"):
        pytest.importorskip(package)
    import torch
    from model2vec import StaticModel
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import BertForSequenceClassification, BertModel, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    torch.manual_seed(0)
    made, tokenizer = tmp_path_factory.mktemp("models"), word_pieces()
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=LONGEST, model_input_names=INPUTS, **names
    )
    bert = BertModel(configuration(tokenizer)).eval()
    cross = BertForSequenceClassification(configuration(tokenizer, num_labels=1)).eval()
    for network, name, output in ((bert, "bert", "last_hidden_state"), (cross, "cross", "logits")):
        network.save_pretrained(made / name)
        fast.save_pretrained(made / name)
        shutil.copytree(made / name, made / f"{name}-onnx")
        (made / f"{name}-onnx" / "model.safetensors").unlink()
        export(network, made / f"{name}-onnx", output)
    modules = [Transformer(str(made / "bert")), Pooling(16, "mean"), Dense(16, 8), Normalize()]
    prompts = {"query": "query: ", "document": "passage: "}
    SentenceTransformer(modules=modules, prompts=prompts, device="cpu").save(str(made / "dense"))
    shutil.copytree(made / "dense", made / "onnx")
    (made / "onnx" / "model.safetensors").unlink()
    (made / "onnx" / "onnx").mkdir()
    shutil.copy(made / "bert-onnx" / "model.onnx", made / "onnx" / "onnx")
    vectors = np.random.default_rng(0).standard_normal((tokenizer.get_vocab_size(), 8)).astype(np.float32)
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": True}
    StaticModel(vectors, tokenizer, config=config).save_pretrained(made / "static")
    return made


@pytest.fixture
def changed(folder, tmp_path):
    """A copy of a model with other JSON in some of its files: ``changed("dense", {"config.json": {"a": 1}})``."""

    def change(name, contents):
        copy = tmp_path / name
        shutil.copytree(folder / name, copy, dirs_exist_ok=True)
        for file, content in contents.items():
            path = copy / file
            path.parent.mkdir(exist_ok=True)
            before = json.loads(path.read_text()) if path.exists() else {}
            merges = isinstance(content, dict) and isinstance(before, dict)
            path.write_text(json.dumps({**before, **content} if merges else content))
        return copy

    return change


@pytest.fixture
def remembered(tmp_path, monkeypatch):
    """Nothing is named or cached yet."""
    from isogloss.encoders import approvals as naming

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ISOGLOSS_VECTOR_CACHE", "10")
    monkeypatch.setattr(naming, "_named", set())
    return tmp_path
