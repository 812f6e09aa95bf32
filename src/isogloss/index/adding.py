"""Adding the documents of a source to an index, in one commit with what was read of its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from isogloss.data.documents import Document
from isogloss.data.in_memory import documents_of
from isogloss.data.problems import Problems
from isogloss.data.source import Source
from isogloss.index.detecting import languages_to_add
from isogloss.index.named_origins import confirm
from isogloss.index.origin_files import recording
from isogloss.index.origins import load_origins
from isogloss.index.writer import IndexWriter


def add_source(
    writer: IndexWriter, source: Source, languages: Sequence[str] = (), problems: Problems | None = None,
    follow: bool = True,
) -> int:  # fmt: skip
    """Add the documents of a source in these languages, or in those that are detected, and commit; their number.

    ``follow``: the source becomes an origin of the index, if its files can be read again. One that is an origin has
    from now on the documents that were read now, and those in other languages; others that it had before stay in the
    index, and are not followed.
    """
    recorded = recording(source, languages, problems) if follow else None
    read = source if recorded is None else recorded.source
    if not languages:
        read, languages = languages_to_add(read, writer.index.manifest, problems)
    ids: dict[str, list[str]] = {}

    def noted() -> Iterator[Document]:
        for document in documents_of(read, languages, problems):
            language = writer.language_of(document)
            ids.setdefault(language, []).append(document.id)
            yield replace(document, language=language)

    writer.source = read
    count = writer.add(noted())
    if recorded is not None:
        name, record = "", recorded.record(ids)
        for known, each in load_origins(writer.path, writer.index.commit).items():
            if each.origin.source == record.origin.source:
                name, record = known, record.with_languages_of(each)
        writer.set_origin(name, record)
    writer.commit()
    if recorded is not None:
        confirm(writer.index.manifest.identity, record.origin.source)
    return count
