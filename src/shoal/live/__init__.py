"""Live masking: each role sees its own version of a database that stays as it is (ISO/IEC 20889, 12.2; MeitY 2.1.2).

A live file names the database, its roles and the policy of each. The same technique objects that rewrite a table in a
run are said in SQL here: one view for each table and role, grants, and nothing that isn't taken back by ``remove``.
What can't be said in SQL is refused with the reason.
"""
