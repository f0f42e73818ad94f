"""Identity mappings, keys, and controlled re-identification: reversible only for those who may."""

from shoal.vault.people import KeyFile, Passphrase, Right, Service, WayIn, make_key_file
from shoal.vault.vault import Vault

__all__ = ["KeyFile", "Passphrase", "Right", "Service", "Vault", "WayIn", "make_key_file"]
