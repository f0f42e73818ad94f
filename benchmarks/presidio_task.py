"""Presidio's analyzer with its pattern recognisers only, in its own environment: ``python presidio_task.py LOG BYTES``.

It is given a line at a time, which it is quicker with than with longer texts, and a pipeline that only splits words, as
its recognisers go by the words around. Only what it does is timed (CPU seconds). Prints one line of JSON.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any


def analyzer() -> Any:
    presidio, engines = import_module("presidio_analyzer"), import_module("presidio_analyzer.nlp_engine")
    words = import_module("spacy").blank("en")

    class WordsOnly(engines.NlpEngine):  # type: ignore[misc,name-defined]
        def load(self) -> None: ...

        def is_loaded(self) -> bool:
            return True

        def process_text(self, text: str, language: str) -> Any:
            read = words(text)
            places, forms = [word.idx for word in read], [word.text for word in read]
            return engines.NlpArtifacts([], read, places, forms, self, language)

        def process_batch(self, texts: Any, language: str, **_options: Any) -> Any:
            return ((text, self.process_text(text, language)) for text in texts)

        def is_stopword(self, _word: str, _language: str) -> bool:
            return False

        def is_punct(self, _word: str, _language: str) -> bool:
            return False

        def get_supported_entities(self) -> list[str]:
            return []

        def get_supported_languages(self) -> list[str]:
            return ["en"]

    registry = presidio.RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    registry.recognizers = [each for each in registry.recognizers if each.name != "SpacyRecognizer"]
    return presidio.AnalyzerEngine(registry=registry, nlp_engine=WordsOnly(), supported_languages=["en"])


def main() -> None:
    logging.disable(logging.CRITICAL)
    log, size = Path(sys.argv[1]), int(sys.argv[2])
    with log.open(encoding="utf-8") as file:
        lines = file.read(size).splitlines()
    ready = analyzer()
    ready.analyze(lines[0], "en")
    started = time.process_time()
    found = sum(len(ready.analyze(line, "en")) for line in lines)
    taken = time.process_time() - started
    print(json.dumps({"version": version("presidio-analyzer"), "found": found, "speed": size / taken}))


if __name__ == "__main__":
    main()
