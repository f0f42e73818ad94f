"""Where personal data is: files, folders, databases, logs, mails and documents, counted by kind and place (D-02)."""

from shoal.scan.findings import Finding, Scan, Unread
from shoal.scan.gates import Gate
from shoal.scan.walking import scan_places

__all__ = ["Finding", "Gate", "Scan", "Unread", "scan_places"]
