"""Skip-gram beside PPMI and SVD: word vectors of the same texts, to be given to ``isogloss reproduce adhoc``.

python benchmarks/skipgram.py skipgram/en --language en --text wikiclir:DIR --text wikiclir:MORE
python benchmarks/skipgram.py ppmi/en --ppmi --window 5 --language en --text wikiclir:DIR --text wikiclir:MORE

The tokens are those that ``aligned`` trains its own vectors on. gensim (extra ``papers``) trains skip-gram with
negative sampling; ``NAME.json`` beside the vectors has the settings and the seconds of training, those of tokenising
left out.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import suppress
from pathlib import Path

from isogloss.data.dataset import load_collection
from isogloss.data.readers.registry import open_source
from isogloss.papers.word_vectors.skip_gram import skip_gram
from isogloss.papers.word_vectors.training import VectorTraining, train_on_tokens
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError
from isogloss.text.batches import TokenizedTexts, tokenize_texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("output", type=Path, help="directory of the vectors")
    parser.add_argument("--language", required=True)
    parser.add_argument("--text", action="append", required=True, metavar="SOURCE")
    parser.add_argument("--ppmi", action="store_true", help="our own instead of skip-gram")
    parser.add_argument("--dimension", type=int, default=300)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    texts = []
    for source in map(open_source, options.text):
        with suppress(InputError):  # it has no documents in the language
            texts += load_collection(source, options.language).texts(("text",))
    tokens = tokenize_texts(texts)
    started = time.perf_counter()
    vectors = (ppmi if options.ppmi else skipgram)(tokens, options)
    seconds = time.perf_counter() - started
    vectors.save(options.output, overwrite=True)
    about = {**vars(options), "output": options.output.name, "words": len(vectors), "tokens": len(tokens.ids)}
    options.output.with_suffix(".json").write_text(json.dumps({**about, "seconds": round(seconds, 1)}, indent=1) + "\n")


def ppmi(tokens: TokenizedTexts, options: argparse.Namespace) -> WordVectors:
    how = VectorTraining(options.dimension, options.window, minimum_count=3, seed=options.seed)
    return train_on_tokens(tokens, how)


def skipgram(tokens: TokenizedTexts, options: argparse.Namespace) -> WordVectors:
    return skip_gram(tokens, options.dimension, options.window, 3, options.epochs, options.seed)


if __name__ == "__main__":
    main()
