"""How Alembic reaches a database: by the connection that `persistence.engine.migrate` hands it."""

from alembic import context

from persistence.engine.walls import SEE_EVERY_BUSINESS
from persistence.tables import metadata


def run() -> None:
    """Run the migrations in one transaction on the given connection."""
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=metadata, compare_type=True)
    with context.begin_transaction():
        connection.exec_driver_sql(SEE_EVERY_BUSINESS)
        context.run_migrations()


run()
