"""Records that belong to a player, of whatever kind."""

from parlour.journal.base import Change, Drop, Journal, RecordQuery


async def drop_owned(journal: Journal, kind: str, owner: str) -> list[Change]:
    """Make the changes that delete all of a player's records of a kind, also those that nobody can decode."""
    owned = await journal.records(RecordQuery(kind, owner=owner))
    return [Drop(kind, group=record.group, key=record.key) for record in owned]
