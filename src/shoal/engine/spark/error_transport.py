"""How an error crosses from an executor to the driver: its code and its message, never a trace, never a value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from shoal.errors import BugError, DataError, InfeasibleError, InputError, ShoalError, SourceError, TargetError

_MARK: Final = "shoal-error "
_KINDS: Final[dict[str, type[InputError | BugError]]] = {
    kind.code: kind for kind in (InputError, SourceError, DataError, TargetError, InfeasibleError, BugError)
}


class TransportedError(Exception):
    """An error on its way. Spark keeps the text of an exception and nothing else."""

    def __init__(self, error: ShoalError) -> None:
        facts = {"code": error.code, "message": error.message, "advice": error.advice}
        facts["field"] = None if error.field is None else error.field.name
        super().__init__(_MARK + json.dumps(facts))


@contextmanager
def sending_errors() -> Iterator[None]:
    """On the executor. What others raise may quote a record, so only its kind is told."""
    try:
        yield
    except ShoalError as error:
        raise TransportedError(error) from None
    except Exception as error:  # noqa: BLE001 (whatever it is, its text stays here)
        raise TransportedError(BugError(f"a step failed on an executor with {type(error).__name__}")) from None


@contextmanager
def receiving_errors() -> Iterator[None]:
    """On the driver: the error as it was raised. Of what failed in Spark itself, only the name of the condition."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if _interrupts(error):
            raise KeyboardInterrupt from None
        raise _arrived(error) from None


def _arrived(error: Exception) -> ShoalError:
    from pyspark.errors import PySparkException

    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return _revived(str(error)) or _unprepared(str(error)) or _failed(condition or type(error).__name__)


def _interrupts(error: BaseException | None) -> bool:
    """Whether it arose from Ctrl-C: PySpark cancels its jobs then, and tells that a job was cancelled."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _revived(text: str) -> ShoalError | None:
    found = re.search(f"{_MARK}({{.*}})", text)
    if not found:
        return None
    facts = json.loads(found[1])
    return _KINDS.get(facts["code"], BugError)(facts["message"], field=facts["field"], advice=facts["advice"])


def _unprepared(text: str) -> InputError | None:
    """Where the executors have a Python without Shoal, or another one than here."""
    missing = re.search(r"No module named '(shoal|polars|pyarrow|numpy)\b", text)
    if missing is None and "PYTHON_VERSION_MISMATCH" not in text:
        return None
    lack = "another version than here" if missing is None else f"no {missing[1]}"
    return InputError(
        f"the Python of the executors has {lack}",
        advice="install the same Python with Shoal there, and let PYSPARK_PYTHON name it",
    )


def _failed(condition: str) -> InputError:
    return InputError(f"Spark could not finish: {condition}", advice="the logs of the executors may say more")
