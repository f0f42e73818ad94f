"""What ISO/IEC 20889, table A.1, says of each technique and model that a policy uses."""

from __future__ import annotations

from typing import Any

from shoal.policy.model import Policy
from shoal.privacy import privacy_models
from shoal.techniques import table_techniques, techniques


def technique_properties(policy: Policy) -> dict[str, dict[str, str]]:
    """Techniques and models with what table A.1 says of each."""
    keys = [step.key for attribute in policy.attributes.values() for step in attribute.steps]
    told = {}
    for key in dict.fromkeys((*keys, *policy.table_steps)):
        kind = techniques.get(key) or table_techniques.get(key)
        facts = getattr(kind, "facts", None)
        if facts is not None:
            told[key] = {"clause": facts.clause, **_lowered(facts.properties)}
    for model in policy.models:
        properties = getattr(privacy_models.get(model.key), "properties", None)
        told[model.key] = {"clause": f"privacy model {model.key}", **_lowered(properties)}
    if any(attribute.hierarchy is not None for attribute in policy.attributes.values()):
        facts = getattr(techniques.get("generalise"), "facts", None)
        if facts is not None:
            told["generalise"] = {"clause": facts.clause, **_lowered(facts.properties)}
    return told


def _lowered(properties: Any) -> dict[str, str]:
    if properties is None:
        return {}
    return {
        "truthful at record level": "yes" if properties.truthful else "no",
        "singling out": str(properties.singling_out),
        "linking": str(properties.linking),
        "inference": str(properties.inference),
    }
