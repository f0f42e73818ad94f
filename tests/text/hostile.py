"""Texts that nobody writes and programs stumble over: pieces to be repeated, put together, or mixed into real ones."""

from __future__ import annotations

from hypothesis import strategies as st

SIGNS = (
    "0 ", "1", "12 ", "1,", "1.", "1:", "1/", "01-", "2024-", "A. ", "A.", "A ", "a ", "a.", "a-", "A-", "Aa ", "Aa-",
    "O'", "@", "a@", "@a.", "(", "((", ")", "[", "]", "*", "°", "#", "+", "+1 ", "::", "x=", "-", "–", "'", "’", '"',
    ",", ", ", ".", "…", ";", " ", "\t", "\n", "\r\n", "\x00", "_", "a_", "%", "€ 5 ", "[PERSON] ",
)  # fmt: skip
LETTERS = (
    "\u0301", "e\u0301", "\u200b", "\u200d", "\u00ad", "\u202e", "\u202eא ", "שלום ", "مرحبا ", "王", "王先生", "한",
    "あ", "ア", "ก", "आशा ", "İ", "ß", "Ｄ", "４", "😀", "\ufffd", "ﬁ",
)  # fmt: skip
WORDS = (
    "Asha ", "Asha Rao ", "Asha° ", "Qwerl ", "Dr. ", "Mr ", "Mrs. A. B. ", "Ms A, Mr B, ", "Van der ", "von ", "St. ",
    "of ", "of the ", "the ", "and ", "and A ", "& ", "in Berlin, ", "Berlin, ", "from ", "born ", "aged ", "Ltd ",
    "University of ", "Court of ", "12 High Street, ", "High Street ", "Road ", "lives at ", "No. ", "EUR 5 ",
    "12 years ", "years old ", "account ", "MRN ", "Dear ", "said Qwerl ", "http://", "a@b.", "5 March ",
    "Minister of ", "the Indian ",
)  # fmt: skip
HALVES = ("\ud800", "\udfff")
"""Halves of a character: no text, but what JSON can escape and what Python makes of file names."""
PERIODS = (*SIGNS, *LETTERS, *WORDS)

pieces = st.one_of(st.sampled_from(PERIODS), st.sampled_from(HALVES), st.text(max_size=12))
texts = st.lists(pieces, max_size=25).map("".join)
repeats = st.builds(
    lambda period, times, after: period * times + after,
    st.lists(st.sampled_from((*PERIODS, *HALVES)), min_size=1, max_size=3).map("".join),
    st.integers(1, 150),
    st.sampled_from(("", "x", "Asha Rao", " 12 High Street, Leeds", "@example.org")),
)
hostile = st.one_of(texts, repeats, st.text(max_size=200))
whole = hostile.map(lambda text: "".join(one for one in text if not "\ud800" <= one <= "\udfff"))
"""Without halves of characters."""


def repeated(period: str, size: int) -> str:
    return (period * (size // len(period) + 1))[:size]
