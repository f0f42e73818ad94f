"""Identity mappings, keys, and controlled re-identification: reversible only for those who may."""

from shoal.vault.credentials import Credential, KeyFile, Passphrase, Right, Service, make_key_file
from shoal.vault.vault import Vault

__all__ = ["Credential", "KeyFile", "Passphrase", "Right", "Service", "Vault", "make_key_file"]
