"""E-mail as files, ``.eml``: the subject and the text, by the parser of the standard library."""

from __future__ import annotations

from email import policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser

from isogloss.data.readers.files.blocks import UnreadableError
from isogloss.data.readers.files.html import read_html

_MOST_PARTS = 1_000
_LONGEST_HEADER = 10_000  # characters
_SHOWN = ("From", "To", "Date")


def read_mail(data: bytes) -> tuple[str, str]:
    """The subject, and who wrote to whom and what; of an attachment its name."""
    try:
        message = BytesParser(policy=policy.compat32).parsebytes(data)
        parts = [part for part, _ in zip(message.walk(), range(_MOST_PARTS), strict=False)]
    except RecursionError as error:
        raise UnreadableError("damaged", "has too many parts inside each other") from error
    if not message.keys():
        raise UnreadableError("damaged", "has no header, so it is no e-mail")
    plain, pages, names = list[str](), list[str](), list[str]()
    for part in parts:
        if part.get_filename() or part.get_content_disposition() == "attachment":
            names.append(_decoded(part.get_filename() or ""))
        elif part.get_content_type() == "text/plain":
            plain.append(_text(part).strip())
        elif part.get_content_type() == "text/html":
            pages.append(read_html(_text(part))[1])
    head = "\n".join(f"{name}: {_decoded(str(message[name]))}" for name in _SHOWN if message[name])
    texts = [head, *(plain or pages), "\n".join(f"- {name}" for name in names if name)]
    return _decoded(str(message["Subject"] or "")), "\n\n".join(text for text in texts if text)


def _text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    try:
        return data.decode(part.get_content_charset() or "utf-8", "replace").replace("\r\n", "\n")
    except (LookupError, ValueError):  # no character set of text
        return data.decode("utf-8", "replace")


def _decoded(value: str) -> str:
    """A header as people read it."""
    try:
        parts = decode_header(value[:_LONGEST_HEADER])
        texts = (
            part if isinstance(part, str) else part.decode(charset or "utf-8", "replace") for part, charset in parts
        )
        return " ".join("".join(texts).split())
    except (HeaderParseError, LookupError, ValueError):
        return " ".join(value[:_LONGEST_HEADER].encode("utf-8", "replace").decode().split())
