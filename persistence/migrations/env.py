"""The environment of Alembic: it runs on the connection that `migrate` provides."""

from alembic import context
from sqlalchemy import text

from persistence.database.revisions import remark
from persistence.database.rights import SEE_EVERY_BUSINESS
from persistence.tables import metadata


def run() -> None:
    """Run the migrations in one transaction on the given connection.

    The same transaction records the oldest server that the schema serves.
    """
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=metadata, compare_type=True)
    with context.begin_transaction():
        connection.exec_driver_sql(SEE_EVERY_BUSINESS)
        context.run_migrations()
        if (serves_from := context.config.attributes.get("serves_from")) is not None:
            connection.execute(text(remark(serves_from)))


run()
