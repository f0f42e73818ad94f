"""What an attacker knows and wants to know: from the user, a policy, or the release itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.errors import FieldName, FieldText, InputError
from shoal.policy import Policy
from shoal.results.release_folder import ReleaseFolder, names_in
from shoal.schema import Role


@dataclass(frozen=True)
class AttackRoles:
    """What an attacker may know of people, and what is to be kept from them."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    """Direct identifiers that are in the release, as something else."""
    other: tuple[str, ...] = ()
    policy: Policy | None = None
    person: str | None = None
    """The column of the original that names the person; without one, every record is somebody else's."""

    @classmethod
    def of(
        cls,
        release: str | ReleaseFolder,
        *,
        policy: Path | None,
        qi: str | None,
        sensitive: str | None,
        person: str | None = None,
    ) -> AttackRoles:
        """From what the user says; else from a policy; else from the release's own manifest."""
        if qi is not None and not names_in(qi):
            raise InputError(FieldText(FieldName("quasi"), " names no column"))
        chosen = None if policy is None else Policy.load(policy)
        folder = ReleaseFolder.around(release) if isinstance(release, str) else release
        return cls.by(chosen, folder, quasi=names_in(qi), sensitive=names_in(sensitive), person=person)

    @classmethod
    def by(
        cls,
        chosen: Policy | None,
        release: ReleaseFolder,
        *,
        quasi: tuple[str, ...] = (),
        sensitive: tuple[str, ...] = (),
        person: str | None = None,
    ) -> AttackRoles:
        """The same with a policy that was read already, and a release, in a folder or not."""
        manifest = release.manifest
        known = {} if manifest is None else manifest.roles
        if chosen is not None:
            known = {name: attribute.role for name, attribute in chosen.attributes.items()}
        named = None if manifest is None or manifest.person is None else manifest.person.attribute
        if not quasi and not known:
            raise InputError(
                FieldText(
                    "say what an attacker knows: ", FieldName("quasi", "a,b,c"), " or ", FieldName("policy", "POLICY")
                ),
                advice="a release folder that this version wrote says it itself",
            )
        with_role = {role: tuple(name for name, own in known.items() if own == role) for role in Role}
        quasi = quasi or with_role[Role.QUASI]
        for name in sensitive:
            if name in quasi:
                raise InputError(f"'{name}' can't be known to an attacker and be what the attacker wants to know")
        return cls(
            quasi,
            sensitive or tuple(name for name in with_role[Role.SENSITIVE] if name not in quasi),
            with_role[Role.DIRECT],
            with_role[Role.INSENSITIVE],
            chosen,
            person or (chosen.person if chosen else named),
        )
