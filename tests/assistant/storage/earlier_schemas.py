"""The tables of every version of Paper Trail, word for word as each made them; never to be changed."""

WHOLE = (
    "id VARCHAR(64) NOT NULL, owner VARCHAR(255) NOT NULL, title TEXT NOT NULL, updated VARCHAR(40) NOT NULL"
)
STATEMENTS = {
    "conversations": [
        "CREATE TABLE paper_trail_schema (version INTEGER NOT NULL, PRIMARY KEY (version))",
        f"CREATE TABLE conversations ({WHOLE}, PRIMARY KEY (id))",
        "CREATE INDEX conversations_of_an_owner ON conversations (owner, updated)",
        "CREATE TABLE turns (conversation_id VARCHAR(64) NOT NULL, number INTEGER NOT NULL, format INTEGER "
        "NOT NULL, document TEXT NOT NULL, PRIMARY KEY (conversation_id, number), FOREIGN "
        "KEY(conversation_id) REFERENCES conversations (id))",
        "INSERT INTO paper_trail_schema (version) VALUES (1)",
        "INSERT INTO conversations VALUES ('kept', 'me', 'Fusion', '2026-01-01')",
    ],
    "comparisons": [
        f"CREATE TABLE comparisons ({WHOLE}, papers INTEGER NOT NULL, state VARCHAR(16) NOT NULL, error TEXT "
        "NOT NULL, run VARCHAR(64) NOT NULL, format INTEGER NOT NULL, plan TEXT NOT NULL, document TEXT NOT "
        "NULL, PRIMARY KEY (id))",
        "CREATE INDEX comparisons_of_an_owner ON comparisons (owner, updated)",
        "CREATE TABLE comparison_calls (number {serial} NOT NULL, comparison_id VARCHAR(64) NOT NULL, round "
        "INTEGER NOT NULL, document TEXT NOT NULL, PRIMARY KEY (number), FOREIGN KEY(comparison_id) "
        "REFERENCES comparisons (id))",
        "CREATE INDEX calls_of_a_comparison ON comparison_calls (comparison_id, round)",
    ],
    "imports": ["CREATE TABLE imported (id VARCHAR(64) NOT NULL, PRIMARY KEY (id))"],
    "spending": [
        "CREATE TABLE spending (month VARCHAR(7) NOT NULL, owner VARCHAR(255) NOT NULL, dollars {double} "
        "NOT NULL, PRIMARY KEY (month, owner))",
        "CREATE TABLE spending_reserved (id VARCHAR(64) NOT NULL, owner VARCHAR(255) NOT NULL, dollars "
        "{double} NOT NULL, until {double} NOT NULL, PRIMARY KEY (id))",
        "INSERT INTO spending VALUES ('2026-01', 'me', 0.5)",
    ],
    "reading": [
        f"CREATE TABLE reading ({WHOLE}, kind VARCHAR(16) NOT NULL, paper TEXT NOT NULL, revision INTEGER "
        "NOT NULL, seen VARCHAR(64) NOT NULL, document TEXT NOT NULL, PRIMARY KEY (id))",
        "CREATE INDEX reading_of_an_owner ON reading (owner, updated)",
        "CREATE TABLE paper_sets (digest VARCHAR(64) NOT NULL, ids {bytes} NOT NULL, PRIMARY KEY (digest))",
    ],
    "libraries": [
        f"CREATE TABLE libraries ({WHOLE}, link VARCHAR(64) NOT NULL, PRIMARY KEY (id))",
        "CREATE INDEX libraries_of_an_owner ON libraries (owner, updated)",
        "CREATE TABLE library_readers (library_id VARCHAR(64) NOT NULL, reader VARCHAR(255) NOT NULL, link "
        "VARCHAR(64) NOT NULL, opened VARCHAR(40) NOT NULL, PRIMARY KEY (library_id, reader), FOREIGN "
        "KEY(library_id) REFERENCES libraries (id))",
        "CREATE TABLE over_libraries (id VARCHAR(64) NOT NULL, library_id VARCHAR(64) NOT NULL, "
        "PRIMARY KEY (id))",
        "CREATE INDEX ix_over_libraries_library_id ON over_libraries (library_id)",
    ],
    "step 0001": [
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, PRIMARY KEY (version_num))",
        "INSERT INTO alembic_version VALUES ('0001')",
    ],
    "step 0002": [
        "UPDATE alembic_version SET version_num = '0002'",
        "CREATE TABLE questions_under_way (id VARCHAR(64) NOT NULL, conversation_id VARCHAR(64) NOT NULL, "
        "question TEXT NOT NULL, server VARCHAR(64) NOT NULL, begun VARCHAR(40) NOT NULL, PRIMARY KEY (id), "
        "FOREIGN KEY(conversation_id) REFERENCES conversations (id))",
        "CREATE INDEX questions_of_a_conversation ON questions_under_way (conversation_id)",
    ],
}
TYPES = {
    "sqlite": {"serial": "INTEGER", "double": "DOUBLE", "bytes": "BLOB"},
    "postgresql": {"serial": "SERIAL", "double": "DOUBLE PRECISION", "bytes": "BYTEA"},
}


def statements_until(version: str, backend: str) -> list[str]:
    """Return the statements that make the tables of a version, with those of earlier versions."""
    versions = list(STATEMENTS)
    made = versions[: versions.index(version) + 1]
    return [line.format(**TYPES[backend]) for version in made for line in STATEMENTS[version]]
