"""The one error of measuring the app."""


class AppBenchError(Exception):
    """Nothing could be measured; the message says why and, where that helps, what to do."""
