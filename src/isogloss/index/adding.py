"""Adding the documents of a source to an index, in one commit with what was read of its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from isogloss.data.documents import Document
from isogloss.data.in_memory import documents_of
from isogloss.data.problems import Problems
from isogloss.data.readers.folder import OneFile
from isogloss.data.source import Source
from isogloss.index.detecting import languages_to_add, only_languages
from isogloss.index.named_origins import confirm
from isogloss.index.origin_files import origin_name, recording
from isogloss.index.origins import load_origins
from isogloss.index.syncing import FileOfOrigin, Synced, folder_of, sync_index
from isogloss.index.writer import IndexWriter


def add_file(
    index: Path, source: Source, languages: Sequence[str] = (), settings: Mapping[str, str] | None = None
) -> tuple[FileOfOrigin, Synced] | None:
    """Add a single file of a folder that the index was made of, as a sync would, and commit; None if it is none."""
    if not isinstance(source, OneFile) or (found := folder_of(index, Path(source.where))) is None:
        return None
    return found, sync_index(index, [found.source], only=found.file, languages=languages, settings=settings)


def add_source(
    writer: IndexWriter, source: Source, languages: Sequence[str] = (), problems: Problems | None = None,
    follow: bool = True,
) -> int:  # fmt: skip
    """Add the documents of a source in these languages, or in those that are detected, and commit; their number.

    ``follow``: the source becomes an origin of the index, if its files can be read again. One that is an origin has
    from now on the documents that were read now, and those in other languages; others that it had before stay in the
    index, and are not followed.
    """
    origins = load_origins(writer.path, writer.index.commit) if follow and source.can_sync else {}
    name = next((name for name, each in origins.items() if each.origin.source == origin_name(source)), "")
    before = origins.get(name)
    recorded = recording(source, languages, problems, before=before) if follow else None
    if not languages:
        source, languages = languages_to_add(source, writer.index, problems)
    else:
        source = only_languages(source, languages, problems, writer.index)
    source = source if recorded is None else recorded.noting(source)
    ids: dict[str, list[str]] = {}

    def noted() -> Iterator[Document]:
        for document in documents_of(source, languages, problems):
            language = writer.language_of(document)
            ids.setdefault(language, []).append(document.id)
            yield replace(document, language=language)

    writer.source = source
    count = writer.add(noted())
    if recorded is not None:
        record = recorded.record(ids)
        writer.set_origin(name, record if before is None else record.with_languages_of(before))
    writer.commit()
    if recorded is not None:
        confirm(writer.index.manifest.identity, record.origin.source)
    return count
