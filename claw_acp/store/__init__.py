"""SQLite: connection, migrations, one writer; sole owner of aiosqlite."""
