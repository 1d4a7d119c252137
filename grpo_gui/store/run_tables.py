"""Which rows of which tables belong to a run, found through the foreign keys that the schema declares.

Deleting a run and copying it into another database both ask here, so that a table of a later version is not forgotten:
it only has to declare whose rows it holds.
"""

import sqlite3
from dataclasses import dataclass

ROOT = "runs"
OF_RUN = "id = :run"  # the condition of one run in its table


@dataclass(frozen=True, slots=True)
class Link:
    """A column that names a row of another table."""

    table: str
    column: str
    parent: str
    parent_column: str


class RunTables:
    """The tables that hold something of a run, parents before children."""

    def __init__(self, connection: sqlite3.Connection, schema: str = "main") -> None:
        self._links = _links(connection, schema)
        self.names = _ordered(self._links)

    def links_of(self, table: str) -> list[Link]:
        """The columns of a table that name rows of tables of a run, the shortest way to the run first."""
        place = {name: number for number, name in enumerate(self.names)}
        mine = [link for link in self._links if link.table == table and link.parent in place]
        return sorted(mine, key=lambda link: place[link.parent])

    def all_links_of(self, table: str) -> list[Link]:
        """The columns of a table that name rows of any other table."""
        return [link for link in self._links if link.table == table]

    def links_to(self, table: str) -> list[Link]:
        """The columns of all tables that name rows of a table."""
        return [link for link in self._links if link.parent == table]

    def below(self, table: str) -> list[str]:
        """The tables whose rows hang on those of `table`, children first, itself left out."""
        found = {table}
        for name in self.names:
            if any(link.parent in found for link in self.links_of(name)) and name != table:
                found.add(name)
        return [name for name in reversed(self.names) if name in found and name != table]

    def way(self, table: str, root: str) -> Link:
        """The link by which the rows of `table` hang on those of `root`, directly or over other tables.

        Raises:
            KeyError: they do not.
        """
        for link in self.links_of(table):
            if link.parent != table and self._reaches(link.parent, root):
                return link
        raise KeyError(f"{table} does not hang on {root}")

    def condition(self, table: str, root: str, root_condition: str, schema: str = "main") -> str:
        """An SQL condition that holds for the rows of `table` that hang on the rows of `root` under its condition."""
        if table == root:
            return root_condition
        link = self.way(table, root)
        if link.parent == ROOT == root and root_condition == OF_RUN:
            return f"{link.column} = :run"
        inner = self.condition(link.parent, root, root_condition, schema)
        return f"{link.column} IN (SELECT {link.parent_column} FROM {schema}.{link.parent} WHERE {inner})"

    def _reaches(self, table: str, root: str) -> bool:
        return table == root or any(
            self._reaches(link.parent, root) for link in self.links_of(table) if link.parent != table
        )


def _links(connection: sqlite3.Connection, schema: str) -> list[Link]:
    tables = [row[0] for row in connection.execute(f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table'")]
    return [
        Link(table, row[3], row[2], row[4] or "id")
        for table in tables
        for row in connection.execute(f"PRAGMA {schema}.foreign_key_list({table})")
    ]


def _ordered(links: list[Link]) -> list[str]:
    """The root and everything that hangs on it, each after all of its parents among them."""
    reached = {ROOT}
    while more := {link.table for link in links if link.parent in reached} - reached:
        reached |= more
    ordered: list[str] = []
    while len(ordered) < len(reached):
        ready = {
            name
            for name in reached - set(ordered)
            if all(
                link.parent in ordered or link.parent == name
                for link in links
                if link.table == name and link.parent in reached
            )
        }
        ordered += sorted(ready)
    return ordered
