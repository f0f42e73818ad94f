"""What somebody who is given the release sees of a column, in plain words."""

from __future__ import annotations

from typing import NamedTuple

from shoal.policy import Attribute, Policy
from shoal.policy.checks import anatomised
from shoal.policy.treatment import Treatment, treatments
from shoal.schema import Role


class RecodingWords(NamedTuple):
    technique: str
    title: str
    clause: str
    seen: str
    """What it does to a cell, for the reader of the data."""


RECODINGS = {
    "global": RecodingWords(
        "generalise",
        "Generalisation, one level for all records",
        "ISO/IEC 20889, 9.6",
        "or the group that it is in, on one level for all records; * in suppressed records",
    ),
    "local": RecodingWords(
        "recode",
        "Generalisation, levels differ between classes",
        "ISO/IEC 20889, 9.6.5",
        "or the group that it is in, coarser where few look alike; * in suppressed records",
    ),
    "cells": RecodingWords(
        "recode", "Suppression of single cells", "ISO/IEC 20889, 9.3.3", "or *, where too few look alike"
    ),
    "rare": RecodingWords(
        "recode",
        "Generalisation of rare combinations only",
        "ISO/IEC 20889, 9.6.5",
        "or the group that it is in, where the combination is rare; * in suppressed records",
    ),
    "clustered": RecodingWords(
        "recode",
        "Generalisation within clusters of similar records",
        "ISO/IEC 20889, 9.6.5",
        "or the group that its cluster has in common; * in suppressed records",
    ),
}


def what_the_reader_sees(policy: Policy, name: str, attribute: Attribute) -> str:
    if not attribute.is_released:
        return "nothing: the column is left out"
    if not policy.kind.has_records:
        return "nothing of a single record, only figures of groups"
    anatomy = anatomised(policy)
    if anatomy is not None and name in anatomy.sensitive:
        return f"nothing in the data: its values are counted by group in {anatomy.file}"
    return _of_the_cell(policy, name, attribute)


def _of_the_cell(policy: Policy, name: str, attribute: Attribute) -> str:
    treatment = treatments(policy).get(name, Treatment.KEPT)
    done = ", then ".join(step.facts.title.lower() for step in attribute.steps if not step.creates())
    after = f" after {done}" if done else ""
    if treatment is Treatment.ALTERED:
        seen = f"a value that need not be true of the person,{after}"
    else:
        seen = f"the value{after}" if after else "the value as it is"
    if attribute.role is Role.QUASI and policy.models:
        seen = f"{seen}, {RECODINGS[policy.solve.recoding].seen}"
    if policy.read_back.found == "suppress" and name not in policy.modelled:
        seen = f"{seen}; * where it would tell what is hidden elsewhere"
    return seen
