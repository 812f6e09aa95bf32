"""The same tiny data in every format, and short ways to read it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.data.source import parse_pair


def _lines(*objects):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in objects)


TINY = {
    "wikiclir": {
        "wiki_en.queries": "q1\tCat\tan animal that purrs\nq2\tTea\ta hot drink\nq3\tBridge\ta road over a river\n",
        "wiki_fr.documents": "d1\tChat\tun animal qui ronronne\nd2\tThé\tune boisson chaude\nd3\tPont\tune route\n",
        "en2fr.rel": "q1\td1\t2\nq1\td2\t1\nq2\td2\t2\n",
    },
    "beir": {
        "queries.jsonl": _lines(
            {"_id": "q1", "title": "Cat", "text": "an animal that purrs"},
            {"_id": "q2", "title": "Tea", "text": "a hot drink"},
            {"_id": "q3", "title": "Bridge", "text": "a road over a river"},
        ),
        "corpus.jsonl": _lines(
            {"_id": "d1", "title": "Chat", "text": "un animal qui ronronne"},
            {"_id": "d2", "title": "Thé", "text": "une boisson chaude"},
            {"_id": "d3", "title": "Pont", "text": "une route"},
        ),
        "qrels/train.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\n",
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\td2\t2\n",
    },
    "trec": {
        "topics.tsv": "q1\tan animal that purrs\nq2\ta hot drink\nq3\ta road over a river\n",
        "documents.jsonl": _lines(
            {"id": "d1", "title": "Chat", "text": "un animal qui ronronne"},
            {"id": "d2", "title": "Thé", "text": "une boisson chaude"},
            {"id": "d3", "title": "Pont", "text": "une route"},
        ),
        "qrels": "q1 0 d1 2\nq1 0 d2 1\nq2\t0\td2\t2\n",
    },
    "jsonl": {
        "pages.jsonl": _lines(
            {"id": "e1", "lang": "en", "title": "Cat", "text": "A cat purrs.", "translations": {"fr": "d1"}},
            {"id": "e2", "lang": "en", "title": "Tea", "text": "Tea is a drink.", "translations": {"fr": "d2"}},
            {"id": "d1", "lang": "fr", "title": "Chat", "text": "un animal qui ronronne", "links": ["d2"]},
            {"id": "d2", "lang": "fr", "title": "Thé", "text": "une boisson chaude", "links": ["d1"]},
            {"id": "d3", "lang": "fr", "title": "Pont", "text": "une route", "links": ["d1"]},
        ),
    },
}


@pytest.fixture
def put(tmp_path):
    """Write files below tmp_path/data, texts or bytes, gzipped if wanted; None takes a file away."""

    def write(files, packed=False):
        directory = tmp_path / "data"
        directory.mkdir(exist_ok=True)
        for name, content in files.items():
            if content is None:
                continue
            data = content.encode() if isinstance(content, str) else content
            path = directory / (name + ".gz" if packed else name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
        return directory

    return write


@pytest.fixture
def tiny(put):
    """The tiny data in a format, some files changed, as a source the user would write."""

    def make(format_, changes=None, packed=False):
        directory = put(TINY[format_] | (changes or {}), packed)
        return f"jsonl:{directory / 'pages.jsonl'}" if format_ == "jsonl" else f"{format_}:{directory}"

    return make


@pytest.fixture
def read():
    """Read a pair of a source; the first error raises."""

    def load(source, pair="en-fr", **options):
        return load_dataset(open_source(source), parse_pair(pair), **options)

    return load


@pytest.fixture
def gather(read):
    """Read a pair of a source; errors are gathered."""

    def load(source, pair="en-fr", **options):
        return read(source, pair, problems=Problems(stop_at_errors=False), **options)

    return load


@pytest.fixture
def shared_data():
    """The real data beside the repository, where it is."""
    directory = Path(__file__).parents[2] / "shared" / "data"
    if not directory.is_dir():
        pytest.skip(f"the real data are not at {directory}")
    return directory
