"""What every request passes: headers, limits, rights, logs, figures."""
