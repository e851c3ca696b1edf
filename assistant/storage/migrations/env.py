"""What Alembic runs to take the steps, in the transaction of whoever asks for them."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
