"""Files that text travels in: plain text, web pages, JSON, mails, Word, Excel, PDF.

A document format gives the texts of a file with their places, and writes the file anew with every text scrubbed:

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     page = Path(folder, "page.html")
...     _ = page.write_text('<p title="Asha">Dear <b>As</b>ha</p>')
...     account = open(page).rewrite(page, page, lambda text: text.replace("Asha", "[PERSON]"))
...     print(page.read_text())
<p title="[PERSON]">Dear <b>[PERSON]</b></p>
"""

from shoal.documents.base import DocumentFormat, DocumentOptions, DocumentText, document_formats
from shoal.documents.cleaning_account import AccountEntry, DocumentAccount
from shoal.documents.registry import endings, format_for

open = format_for  # noqa: A001 - documents.open(path) is how it is called

__all__ = [
    "AccountEntry",
    "DocumentAccount",
    "DocumentFormat",
    "DocumentOptions",
    "DocumentText",
    "document_formats",
    "endings",
    "format_for",
    "open",
]
