"""What the studio remembers: tables of one database, SQLite in its home folder."""
