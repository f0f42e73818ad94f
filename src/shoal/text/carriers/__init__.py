"""Files that text travels in: plain text, web pages, JSON, mails, Word, Excel, PDF.

A carrier gives the texts of a file with their places, and writes the file anew with every text scrubbed:

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     page = Path(folder, "page.html")
...     _ = page.write_text('<p title="Asha">Dear <b>As</b>ha</p>')
...     account = open(page).rewrite(page, page, lambda text: text.replace("Asha", "[PERSON]"))
...     print(page.read_text())
<p title="[PERSON]">Dear <b>[PERSON]</b></p>
"""

from shoal.text.carriers.accounts import Account, Entry
from shoal.text.carriers.base import Carrier, Options, Piece
from shoal.text.carriers.registry import CARRIERS, ENDINGS, carrier_for

open = carrier_for  # noqa: A001 - carriers.open(path) is how it is called

__all__ = ["CARRIERS", "ENDINGS", "Account", "Carrier", "Entry", "Options", "Piece", "carrier_for", "open"]
