"""Tables in databases: PostgreSQL, MariaDB, SQLite."""
