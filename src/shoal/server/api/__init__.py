"""The REST API below ``/api/v1``."""
