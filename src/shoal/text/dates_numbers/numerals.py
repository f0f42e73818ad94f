"""Numbers, in digits and in words, as the inside of an expression."""

from __future__ import annotations

_ONES = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
    "|ein|eine|einen|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|un|une|deux|trois|quatre|cinq|sept|huit|neuf|dix"
    "|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez"
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_LARGE = "hundred|thousand|million|billion|lakh|crore|dozen"
_WORD = rf"(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{_ONES}|{_LARGE}|half)"
NUMERAL_IN_WORDS = rf"(?:(?:an? )?{_WORD}(?:(?: and)?(?: an?)? {_WORD}){{0,6}})"
IN_DIGITS = r"(?:\d{1,3}(?:[,.' \u00a0]\d{3})*(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)"
NUMERAL = rf"(?<![\w.,])(?:{IN_DIGITS}|{NUMERAL_IN_WORDS})"
