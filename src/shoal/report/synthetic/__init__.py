"""The reports of synthetic releases."""
