"""What several test files share. ``from tests.support.lattice import …``; nothing here is a test."""
