"""Questions to the catalogue of PostgreSQL."""

from __future__ import annotations

from typing import Final

COLUMNS: Final = """
SELECT c.relname::text, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.relname, a.attnum
"""
VIEWS: Final = """
SELECT c.relname::text, c.relkind::text, pg_catalog.pg_get_viewdef(c.oid), c.reloptions::text, c.relacl::text,
    c.relowner::bigint, pg_catalog.obj_description(c.oid, 'pg_class'), n.nspacl::text
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind IN ('v', 'm', 'r', 'p', 'f')
ORDER BY c.relname
"""
"""What is the same of two views exactly where both show the same to the same people."""
SCHEMA_MARK: Final = """
SELECT pg_catalog.obj_description(oid, 'pg_namespace') FROM pg_catalog.pg_namespace WHERE nspname = %s
"""
MARKED: Final = """
SELECT nspname::text FROM pg_catalog.pg_namespace
WHERE pg_catalog.obj_description(oid, 'pg_namespace') = %s ORDER BY nspname
"""
BASE_TABLES: Final = """
WITH RECURSIVE family(oid) AS (
    SELECT c.oid FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relname = ANY(%s)
    UNION
    SELECT CASE WHEN i.inhparent = f.oid THEN i.inhrelid ELSE i.inhparent END
    FROM family AS f JOIN pg_catalog.pg_inherits AS i ON f.oid IN (i.inhparent, i.inhrelid)
)
SELECT oid::bigint FROM family
"""
"""With their partitions, and what they inherit from or to."""
NO_SUCH_ROLE: Final = "there is no role"

_MEMBERS: Final = """
WITH may AS (
    SELECT r.oid, r.rolname FROM pg_catalog.pg_roles AS r WHERE pg_catalog.pg_has_role(%(role)s, r.oid, 'MEMBER')
)
"""
"""The role, and all that it can become."""
_READERS: Final = """
WITH RECURSIVE may AS (
    SELECT r.oid, r.rolname FROM pg_catalog.pg_roles AS r WHERE pg_catalog.pg_has_role(%(role)s, r.oid, 'MEMBER')
), reading(oid) AS (
    SELECT unnest(%(bases)s::bigint[]::oid[])
    UNION
    SELECT w.ev_class FROM reading
    JOIN pg_catalog.pg_depend AS d ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = reading.oid
        AND d.classid = 'pg_catalog.pg_rewrite'::regclass
    JOIN pg_catalog.pg_rewrite AS w ON w.oid = d.objid
)
"""
WAYS_AROUND: Final = (
    (
        _MEMBERS
        + """
SELECT r.rolname FROM may JOIN pg_catalog.pg_roles AS r ON r.oid = may.oid
WHERE r.rolsuper OR r.rolbypassrls OR r.rolreplication OR r.rolcreaterole OR r.rolname IN
    ('pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files',
     'pg_execute_server_program', 'pg_monitor', 'pg_read_all_stats', 'pg_stat_scan_tables',
     'pg_checkpoint', 'pg_create_subscription', 'pg_maintain')
LIMIT 1
""",
        "has rights over the whole server, as '{0}'",
    ),
    (
        _READERS
        + """
SELECT DISTINCT n.nspname::text || '.' || c.relname::text
FROM reading JOIN pg_catalog.pg_class AS c ON c.oid = reading.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace CROSS JOIN may
WHERE NOT (n.nspname = ANY(%(own)s)) AND (
    may.oid = c.relowner
    OR pg_catalog.has_table_privilege(may.oid, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
    OR pg_catalog.has_any_column_privilege(may.oid, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))
ORDER BY 1
""",
        "has rights of its own on {0}",
    ),
    (
        _MEMBERS
        + """
SELECT DISTINCT n.nspname::text || '.' || c.relname::text
FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_class AS c ON c.oid = d.objid AND c.relkind = 'S'
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace CROSS JOIN may
WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass
    AND d.refobjid = ANY(%(bases)s::bigint[]::oid[])
    AND pg_catalog.has_sequence_privilege(may.oid, c.oid, 'USAGE, SELECT, UPDATE')
ORDER BY 1
""",
        "has rights of its own on {0}, which counts records",
    ),
    (
        _MEMBERS
        + """
SELECT DISTINCT n.nspname::text || '.' || p.proname::text
FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace CROSS JOIN may
CROSS JOIN pg_catalog.unnest(%(bases)s::bigint[]::oid[]) AS base(oid)
WHERE p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND pg_catalog.has_function_privilege(may.oid, p.oid, 'EXECUTE')
    AND pg_catalog.has_schema_privilege(may.oid, n.oid, 'USAGE')
    AND pg_catalog.has_table_privilege(p.proowner, base.oid, 'SELECT')
ORDER BY 1
""",
        "may call {0}, which reads with its owner's rights",
    ),
    (
        _MEMBERS
        + """
SELECT n.nspname::text FROM pg_catalog.pg_namespace AS n CROSS JOIN may
WHERE (n.nspname = ANY(%(own)s) OR n.nspname = 'shoal_keys')
    AND (pg_catalog.has_schema_privilege(may.oid, n.oid, 'CREATE') OR may.oid = n.nspowner
         OR (n.nspname = 'shoal_keys' AND pg_catalog.has_schema_privilege(may.oid, n.oid, 'USAGE')))
LIMIT 1
""",
        "may make or read things in {0}",
    ),
)
"""Each with what is said of what it finds."""
