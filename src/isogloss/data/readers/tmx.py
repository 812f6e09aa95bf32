"""TMX: translation memories in XML, with a segment (``seg``) a language (``tuv``) in each translation unit (``tu``).

Read as a stream by expat. Nothing outside the file is loaded. A file that declares entities is refused: a few lines of
them expand to gigabytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from gzip import BadGzipFile
from pathlib import Path
from xml.parsers import expat

from isogloss.data.parallel_text import NoTextError, ParallelText, same_language
from isogloss.data.problems import Problems
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, find_file, open_bytes

_CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})  # their content is markup of the translated document
_BLOCK = 1 << 20  # bytes; a long token is read anew with each block
_LONGEST = 1 << 18  # characters of a translation unit
_DEEPEST = 64  # elements in elements


class Tmx(ParallelText):
    """A file of translation units."""

    format = "tmx"
    can_sync = True
    file_endings = (".tmx",)

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.path = find_file(Path(where))

    def units(self, languages: Sequence[str], problems: Problems) -> Iterator[tuple[Location, tuple[str, ...]]]:
        found = False
        there_are: set[str] = set()
        for line, unit in _read_units(self.path):
            there_are |= {code for code, _ in unit}
            texts = [next((text for code, text in unit if same_language(code, each)), None) for each in languages]
            if None not in texts:
                found = True
                yield Location(self.path, line), tuple(text for text in texts if text is not None)
        if not found:
            what = f"has no translation unit in {' and '.join(languages)}"
            raise NoTextError(f"{self.path}: {what}; languages here: {', '.join(sorted(there_are)) or 'none'}")


def _read_units(path: Path) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """The line and the texts of each translation unit, with their languages."""
    reader = _Reader(path)
    try:
        with open_bytes(path) as file:
            while block := file.read(_BLOCK):
                reader.parse(block)
                yield from reader.take()
        reader.parse(b"", last=True)
        yield from reader.take()
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise InputError(f"{Location(path, error.lineno)}: not well-formed XML ({what}); make the file anew") from error
    except (LookupError, ValueError) as error:  # an encoding that expat does not have
        raise InputError(f"{path}: {error}; convert the file to UTF-8") from error
    except (EOFError, BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: a damaged gzip archive ({error})") from error


class _Reader:
    """Collects translation units while expat reads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._units: list[tuple[int, list[tuple[str, str]]]] = []
        self._elements: list[str] = []
        self._unit: list[tuple[str, str]] = []
        self._language, self._size, self._line = "", 0, 0
        self._texts: list[str] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.EntityDeclHandler = self._entity

    def parse(self, block: bytes, last: bool = False) -> None:
        """Read on."""
        self._parser.Parse(block, last)

    def take(self) -> list[tuple[int, list[tuple[str, str]]]]:
        """The units that are complete."""
        units, self._units = self._units, []
        return units

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._elements and name != "tmx":
            self._refuse(f"begins with <{name[:30]}>, not with <tmx>; a TMX file is needed")
        if len(self._elements) >= _DEEPEST:
            self._refuse(f"more than {_DEEPEST} elements are inside each other")
        self._elements.append(name)
        if name == "tu":
            self._unit, self._size, self._line = [], 0, self._parser.CurrentLineNumber
        elif name == "tuv":
            self._language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif name == "seg":
            self._texts = []

    def _end(self, name: str) -> None:
        self._elements.pop()
        if name == "seg":
            self._unit.append((self._language, "".join(self._texts)))
        elif name == "tu":
            self._units.append((self._line, self._unit))

    def _data(self, text: str) -> None:
        if "seg" not in self._elements or _CODES.intersection(self._elements):
            return
        self._size += len(text)
        if self._size > _LONGEST:
            self._refuse(f"a translation unit has more than {_LONGEST:,} characters; cut it into sentences")
        self._texts.append(text)

    def _entity(self, name: str, *_: object) -> None:
        self._refuse(f"declares the entity {name[:30]!r}, which is not read; write its text in its place")

    def _refuse(self, what: str) -> None:
        raise InputError(f"{Location(self._path, self._parser.CurrentLineNumber)}: {what}")
