"""The prompt of ``isogloss search``: queries, and commands that start with a colon."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from isogloss.cli.hits import (
    HitGlosses,
    bar,
    print_explanation,
    print_hits,
    print_translations,
    print_unknown,
    scored_by,
)
from isogloss.data.documents import joined_fields
from isogloss.search.hits import Hits
from isogloss.search.query_language import QueryLanguage, query_language_note, read_query_language
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.user_directories import state_directory

if TYPE_CHECKING:
    from rich.console import Console

    from isogloss.index.manifest import Manifest
    from isogloss.search.searcher import Searcher

_LINES_KEPT = 1000


class Prompt:
    """Answers what is typed; keeps the number of documents, the languages and the last answer.

    ``language`` is the language of the queries where the user sets it; otherwise each query's is guessed.
    """

    def __init__(
        self, manifest: Manifest, searcher: Searcher, out: Console, k: int = 10, languages: list[str] | None = None,
        explain: bool = False, language: str | None = None, filters: Mapping[str, str] | None = None,
        gloss: bool | None = None, translator: str = "", exact: bool = False,
    ) -> None:  # fmt: skip
        self.manifest, self.searcher, self.out = manifest, searcher, out
        self.k, self.languages, self.language = k, languages, language
        self.explain, self.filters, self.exact = explain, filters, exact
        self.gloss, self.translator = gloss is not False, translator
        self.typed, self.query, self.hits = "", "", Hits()
        searcher.index.choose(languages)  # a language that is not there is an error now, not at every query

    def run(self, name: str) -> None:
        """Read lines and answer them until an empty one, ``:quit`` or Ctrl-D."""
        counts = ", ".join(f"{count:,} in {language}" for language, count in self.manifest.documents.items())
        queries = f"Queries in {' or '.join(self.manifest.query_languages)}; :help lists the commands"
        self._say(f"{name}: {counts}. {queries}, an empty line or Ctrl-D leaves.")
        with History(history_file()) as history:
            while (line := _read_line()) not in ("", ":quit", ":q"):
                history.add(line)
                try:
                    self.take(line)
                except InputError as error:
                    self._say(" ".join(str(error).split()), "red")

    def take(self, line: str) -> None:
        """Answer a query, or do what a command says."""
        if not line.startswith(":"):
            self._answer(line)
            return
        name, _, argument = line[1:].partition(" ")
        if name not in _COMMANDS:
            raise InputError(f":{name} is not a command; :help lists them (a query starts without a colon)")
        _COMMANDS[name].do(self, argument.strip())

    def _answer(self, query: str, document_language: str = "", exact: bool = False) -> None:
        language = QueryLanguage(document_language, document_language)
        if not document_language:
            language = read_query_language(query, self.searcher.index, self.language or "")
        self.searcher = self.searcher.asked_in(language.searched)
        explain = self.explain or self.searcher.explains_quickly(self.languages)
        self.typed = "" if document_language else query
        exact = exact or self.exact or bool(document_language)
        self.hits = self.searcher.search(query, self.k, self.languages, self.filters, explain=explain, exact=exact)
        self.query = self.hits.read_as
        self._show()
        print_unknown(self.out, self.searcher.unknown_words(self.query, self.languages))
        if not document_language:
            print_translations(self.out, self.searcher.translations(self.query, self.languages))
            self._say(query_language_note(language, self.searcher.index), "magenta")

    def _show(self) -> None:
        glosses = HitGlosses(self.searcher, self.query, self.translator) if self.gloss else None
        query = self.typed or self.query
        print_hits(self.out, self.searcher, query, self.hits, self.explain, ":exact", glosses)

    def switch_gloss(self, argument: str) -> None:
        """``:gloss``, ``:gloss on`` or ``:gloss off``; the last answer is shown again."""
        if argument not in ("", "on", "off"):
            raise InputError(f":gloss is on or off, not {argument!r}; ':gloss' alone switches it")
        self.gloss = argument == "on" if argument else not self.gloss
        self._say(f"glosses: {'on' if self.gloss else 'off'}")
        if self.hits:
            self._show()

    def set_k(self, argument: str) -> None:
        """``:k 20``."""
        self.k = _number(argument, "k") if argument else self.k
        self._say(f"documents in an answer: {self.k}")

    def set_languages(self, argument: str) -> None:
        """``:lang fr sw``; without languages all are searched again."""
        wanted = argument.replace(",", " ").split()
        chosen = self.searcher.index.choose(wanted)
        self.languages = wanted or None
        self._say(f"languages: {', '.join(chosen)}")

    def search_with_document(self, argument: str) -> None:
        """``:doc 17`` or ``:doc some-id``."""
        if not argument:
            raise InputError(f":doc needs a document in {self.manifest.query_language}: its number or id, like :doc 17")
        document = self.searcher.source(argument, self.language or "")
        self._say(f"searching with {document.id}: {document.title or document.text[:60]}", "bold")
        self._answer(joined_fields(document, self.manifest.fields), document.language)

    def search_exactly(self, argument: str) -> None:
        """``:exact vulcano``; alone: the last query again, as it was typed."""
        query = argument or self.typed
        if not query:
            raise InputError(":exact needs a query, like :exact vulcano; alone it repeats the last one")
        self._answer(query, exact=True)

    def explain_hit(self, argument: str) -> None:
        """``:why 3``."""
        if not self.hits:
            raise InputError(":why explains a result, and there is none yet; type a query first")
        rank = _number(argument, "why")
        if rank > len(self.hits):
            raise InputError(f":why {rank}: the last answer ends with result {len(self.hits)}")
        hit = self.searcher.explained(self.query, self.hits[rank - 1])
        self._say(f"{bar(hit)}{scored_by(self.searcher, hit)}  {hit.document.title or hit.document.id}", "bold")
        print_explanation(self.out, self.searcher, hit)
        if not hit.explanation:
            self._say("this score cannot be explained")

    def help(self, _: str) -> None:
        """``:help``."""
        for name, command in _COMMANDS.items():
            self._say(f"  {f':{name} {command.argument}':14}{command.help}")
        self._say("  :quit         leave, as an empty line and Ctrl-D do")

    def _say(self, line: str, style: str = "") -> None:
        if line:
            self.out.print(Text(line, style), soft_wrap=True)


class _Command(NamedTuple):
    do: Callable[[Prompt, str], None]
    argument: str
    help: str


_COMMANDS = {
    "k": _Command(Prompt.set_k, "20", "how many documents an answer has"),
    "lang": _Command(Prompt.set_languages, "fr sw", "search documents in these languages; ':lang' alone: in all"),
    "doc": _Command(Prompt.search_with_document, "17", "search with document 17 (or an id) of the query language"),
    "gloss": _Command(Prompt.switch_gloss, "", "switch glosses on or off, and show the last answer again"),
    "exact": _Command(Prompt.search_exactly, "query", "search without correcting typing errors; alone: the last query"),
    "why": _Command(Prompt.explain_hit, "3", "explain result 3: which words met, and how much they gave"),
    "help": _Command(Prompt.help, "", "this list"),
}


def _read_line() -> str:
    try:
        return input("search> ").strip()
    except EOFError:
        print()
        return ""


def _number(text: str, command: str) -> int:
    if not (text.isdecimal() and len(text) < 10 and int(text) > 0):
        raise InputError(f":{command} needs a whole number from 1 up, like :{command} {_COMMANDS[command].argument}")
    return int(text)


class History:
    """The last thousand lines that were typed, in a file and for the arrow keys.

    Each is written as soon as it is typed, so that prompts side by side lose nothing. A history that cannot be read or
    written is no error.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> History:
        lines = self._trim()
        with contextlib.suppress(ImportError):  # not every Python has it
            import readline

            for line in lines:
                readline.add_history(line)
        return self

    def __exit__(self, *_: object) -> None:
        self._trim()

    def add(self, line: str) -> None:
        """Keep a line (the arrow keys know it already)."""
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.touch(mode=0o600)  # queries are private
            with open(self.path, "a", encoding="utf-8", errors="replace") as file:
                file.write(f"{line}\n")

    def _trim(self) -> list[str]:
        """The lines that are kept; the file is shortened to them."""
        lines: list[str] = []
        with contextlib.suppress(OSError, InputError):
            lines = self.path.read_text("utf-8", "replace").split("\n")[:-1]
            if len(lines) > _LINES_KEPT:
                lines = lines[-_LINES_KEPT:]
                with atomic_file(self.path) as file:
                    file.writelines(f"{line}\n" for line in lines)
        return lines


def history_file() -> Path:
    """Where the history is: where ISOGLOSS_HISTORY says (empty: nowhere), or in the user's state directory."""
    named = os.environ.get("ISOGLOSS_HISTORY")
    if named is not None:
        return Path(named or os.devnull)
    state = state_directory()
    return Path(os.devnull) if state is None else state / "history"
