"""Where personal data is: files, folders, databases, logs, mails and documents, counted by kind and place (D-02)."""

from shoal.scan.findings import Scan, ScanFinding, UnreadSource
from shoal.scan.gates import ScanGate
from shoal.scan.source_walk import scan_places

__all__ = ["Scan", "ScanFinding", "ScanGate", "UnreadSource", "scan_places"]
