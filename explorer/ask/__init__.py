"""The Ask screen."""
