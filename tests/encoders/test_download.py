"""Fetching a model: only when the user says so, only what is needed, from a Hub that the test plays itself."""

import json
import threading
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from isogloss.encoders.model_files import _to_fetch
from isogloss.encoders.pretrained_encoder import PretrainedEncoder, with_named_models
from isogloss.storage.errors import InputError

COMMIT = "c" * 40


class Hub(BaseHTTPRequestHandler):
    """Answers as the Hub does, from a folder with one model; ``asked`` are the files that are fetched."""

    def __init__(self, folder, asked, *arguments):
        self.folder, self.asked = folder, asked
        super().__init__(*arguments)

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.partition("?")[0]
        names = sorted(str(file.relative_to(self.folder)) for file in self.folder.rglob("*") if file.is_file())
        if path.startswith("/api/models/tiny/model"):
            about = {"id": "tiny/model", "sha": COMMIT, "siblings": [{"rfilename": name} for name in names]}
            tree = [{"type": "file", "path": name, "size": 1, "oid": "0"} for name in names]
            self.answer(json.dumps(tree if "/tree/" in path else about).encode())
        elif path.startswith("/tiny/model/resolve/") and path.split("/", 5)[5] in names:
            content = (self.folder / path.split("/", 5)[5]).read_bytes()
            if self.command == "GET":
                self.asked.append(path.split("/", 5)[5])
            self.answer(content, {"ETag": f'"{sha256(content).hexdigest()}"', "X-Repo-Commit": COMMIT})
        else:
            self.answer(b"{}", {"X-Error-Code": "RepoNotFound"}, 404)

    def answer(self, content, headers=(), status=200):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **dict(headers)}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


@pytest.fixture
def hub(changed, tmp_path, monkeypatch):
    """A Hub with a model that also has a pickle and code; the files that were fetched from it."""
    from huggingface_hub import constants

    copy, asked = changed("onnx", {}), []
    for name in ("pytorch_model.bin", "modeling.py", "onnx/model_quantized.onnx", "README.md"):
        (copy / name).write_bytes(b"not needed")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, copy, asked))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "ENDPOINT", address)
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.partition("/{")[2]
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{address}/{{{template}")
    yield asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_model_is_fetched_when_the_user_says_so(hub, remembered):
    with pytest.raises(InputError, match="download=True"):
        with_named_models({"pretrained": "tiny/model"})
    assert hub == []
    named = with_named_models({"pretrained": "tiny/model", "download": "true"})
    assert named == {"pretrained": "tiny/model"}
    assert "onnx/model.onnx" in hub and "tokenizer.json" in hub and "1_Pooling/config.json" in hub
    assert not {"pytorch_model.bin", "modeling.py", "onnx/model_quantized.onnx", "README.md"} & {*hub}
    assert PretrainedEncoder("tiny/model").encode_queries(["bees"]).any()
    fetched = len(hub)
    assert with_named_models({"pretrained": "tiny/model"}) == named
    assert len(hub) == fetched


def test_a_model_that_the_hub_does_not_have_is_one_sentence(hub, remembered):
    with pytest.raises(InputError, match=r"download: 'tiny/other' cannot be fetched \([^\n]+\)$"):
        with_named_models({"pretrained": "tiny/other", "download": "yes"})


@pytest.mark.parametrize(
    ("names", "file", "weights"),
    [
        (
            ["model.safetensors", "onnx/model.onnx", "2_D/model.safetensors"],
            "",
            ["2_D/model.safetensors", "model.safetensors"],
        ),
        (["0_Transformer/model.safetensors", "pytorch_model.bin"], "", ["0_Transformer/model.safetensors"]),
        (["model.safetensors", "o/4.onnx"], "o/4.onnx", ["o/4.onnx", "o/4.onnx_data", "o/4.onnx.data"]),
        (["pytorch_model.bin", "model.py"], "", []),
    ],
)
def test_one_form_of_the_weights_is_fetched(names, file, weights):
    assert _to_fetch(names, file)[3:] == weights
