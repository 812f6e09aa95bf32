"""Models on disk and in the local cache of the Hub: which are found, and which are refused in one sentence."""

import shutil
import socket

import pytest

from isogloss.encoders.model_files import find_model
from isogloss.encoders.pretrained_encoder import PretrainedEncoder, with_named_models
from isogloss.storage.errors import InputError


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Whoever connects anywhere fails the test."""

    def connect(*_):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture
def hub(folder, tmp_path, monkeypatch):
    """A local cache of the Hub with the models ``tiny/dense`` and ``tiny/onnx``."""
    from huggingface_hub import constants

    for name in ("dense", "onnx"):
        repository = tmp_path / "hub" / f"models--tiny--{name}"
        shutil.copytree(folder / name, repository / "snapshots" / ("0" * 40))
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text("0" * 40)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.mark.parametrize(
    ("name", "kind", "file"),
    [
        ("dense", "sentence-transformers", None),
        ("bert", "sentence-transformers", None),
        ("onnx", "onnx", "onnx/model.onnx"),
        ("onnx/onnx/model.onnx", "onnx", "onnx/model.onnx"),
        ("bert-onnx/model.onnx", "onnx", "model.onnx"),
        ("static", "model2vec", None),
    ],
)
def test_a_folder_says_which_library_reads_it(folder, name, kind, file):
    model = find_model(str(folder / name))
    assert (model.kind, model.file and str(model.file.relative_to(model.folder))) == (kind, file)
    assert model.identity() == find_model(str(folder / name)).identity()
    assert model.is_cross_encoder is False


def test_what_both_have_is_read_by_its_weights_and_the_export_by_its_file(folder, changed):
    both = changed("onnx", {})
    shutil.copy(folder / "dense" / "model.safetensors", both)
    assert find_model(str(both)).kind == "sentence-transformers"
    assert find_model(str(both / "onnx" / "model.onnx")).kind == "onnx"


def test_a_name_is_found_in_the_local_cache_and_nowhere_else(hub):
    found = PretrainedEncoder(with_named_models({"pretrained": "tiny/onnx/onnx/model.onnx"})["pretrained"])
    assert found.encode_queries(["bees"]).shape == (1, 8)
    assert find_model("tiny/dense").kind == "sentence-transformers"
    for name in ("tiny/none", "magic"):
        with pytest.raises(InputError, match=r"nor in the local cache of the Hugging Face Hub; .*download=True$"):
            with_named_models({"pretrained": name})
    with pytest.raises(InputError, match="no such file in the model"):
        find_model("tiny/onnx/onnx/other.onnx")


def test_a_download_that_fails_is_one_sentence(hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"download: 'tiny/none' cannot be fetched \([^\n]+\)$"):
        with_named_models({"pretrained": "tiny/none", "download": "true"})


@pytest.mark.parametrize("name", ["/nowhere", "./nowhere", "~/nowhere", "../x", "a//b", "\0", "C:\\x", "-x", " "])
def test_what_is_no_name_is_no_model(name):
    with pytest.raises(InputError, match=r"is neither a folder nor an \.onnx file"):
        find_model(name)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "weights.pkl"])
def test_weights_in_a_pickle_are_refused(folder, tmp_path, name):
    for file in ("config.json", "tokenizer.json"):
        shutil.copy(folder / "bert" / file, tmp_path)
    (tmp_path / name).write_bytes(b"cos\nsystem\n")
    with pytest.raises(InputError, match=rf"only as a pickle \({name}\), which can run code; save it as safetensors"):
        find_model(str(tmp_path))


def test_one_module_with_a_pickle_is_enough(changed):
    copy = changed("dense", {})
    (copy / "2_Dense" / "model.safetensors").rename(copy / "2_Dense" / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"2_Dense: has weights only as a pickle"):
        find_model(str(copy))


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        ({"config.json": {"auto_map": {"AutoModel": "modeling.Mine"}}}, "config.json: asks for code of its own"),
        ({"tokenizer_config.json": {"auto_map": {"AutoTokenizer": ["t.T", None]}}}, "asks for code of its own"),
        ({"sentence_bert_config.json": {"model_args": {"trust_remote_code": True}}}, "asks for code of its own"),
        ({"modules.json": [{"path": "", "type": "custom_st.Transformer"}]}, "'custom_st.Transformer' is not one of"),
        ({"modules.json": [{"path": "", "type": "sentence_transformers.util.http_get"}]}, "is not one of Transformer"),
        ({"modules.json": [{"path": "../..", "type": "sentence_transformers.models.Dense"}]}, "is not in the folder"),
        ({"modules.json": [{"type": 1}]}, "is not a list of modules"),
        ({"modules.json": {"a": 1}}, "modules.json: is not what a model has there"),
        ({"adapter_config.json": {"base_model_name_or_path": "/elsewhere"}}, "is an adapter of another model"),
    ],
)
def test_what_would_run_code_or_load_another_model_is_refused(changed, contents, complaint):
    with pytest.raises(InputError, match=complaint):
        find_model(str(changed("dense", contents)))


def test_an_export_needs_no_code_of_its_model(changed):
    copy = changed("onnx", {"config.json": {"auto_map": {"AutoModel": "modeling.Mine"}}})
    (copy / "modeling.py").write_text("raise AssertionError\n")
    encoder = PretrainedEncoder(with_named_models({"pretrained": str(copy)})["pretrained"])
    assert encoder.encode_queries(["bees"]).any()


@pytest.mark.parametrize("where", ["../secret.bin", "/etc/hostname"])
def test_an_export_reads_no_file_outside_its_folder(folder, changed, where):
    """ONNX can keep weights in other files; one that names a file elsewhere is not loaded."""
    import onnx

    copy = changed("bert-onnx", {})
    (copy.parent / "secret.bin").write_bytes(bytes(100_000))
    model = onnx.load(str(copy / "model.onnx"))
    weights = max(model.graph.initializer, key=lambda each: len(each.raw_data))
    size = len(weights.raw_data)
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", where), ("offset", "0"), ("length", str(size))):
        weights.external_data.add(key=key, value=value)
    (copy / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="onnx cannot load this model"):
        PretrainedEncoder(with_named_models({"pretrained": str(copy)})["pretrained"]).encode_queries(["bees"])


def test_another_file_is_another_model(folder, changed):
    before = find_model(str(changed("static", {}))).identity()
    assert before == find_model(str(folder / "static")).identity()
    after = find_model(str(changed("static", {"config.json": {"normalize": False}}))).identity()
    assert after != before


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        ({"config_sentence_transformers.json": {"similarity_fn_name": "euclidean"}}, "similarity 'euclidean'"),
        ({"1_Pooling/config.json": {"pooling_mode": "magic"}}, "pools by 'magic'; isogloss has cls, mean"),
        ({"2_Dense/config.json": {"activation_function": "os.system"}}, "activation 'os.system' is not one of Tanh"),
        ({"2_Dense/config.json": {"use_residual": True}}, "dense layer that isogloss does not know"),
    ],
)
def test_what_an_export_asks_for_and_isogloss_has_not_is_named(changed, contents, complaint):
    with pytest.raises(InputError, match=complaint):
        PretrainedEncoder(
            with_named_models({"pretrained": str(changed("onnx", contents))})["pretrained"]
        ).encode_queries([])
