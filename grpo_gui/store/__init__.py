"""The store: schema and migrations, the writer thread, read-only readers, series pyramid."""
