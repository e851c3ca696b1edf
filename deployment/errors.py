"""What can go wrong before anything is served."""


class ServeError(Exception):
    """The app cannot be served; the message says what is missing and what to do."""
