"""The answer of a batch. The server runs its items, each by the handler of its own operation."""

from handlers.results import FinishedBatch, Reply


async def run_batch(batch: FinishedBatch) -> Reply:
    """Return the result of each item, in their order, with how many succeeded and failed."""
    succeeded = sum(each["outcome"] == "succeeded" for each in batch.results)
    is_preview = batch.entries is not None
    return {
        "committed": not is_preview,
        "succeeded": succeeded,
        "failed": len(batch.results) - succeeded,
        "results": batch.results,
        **({"journal_entries": batch.entries} if is_preview else {}),
    }
