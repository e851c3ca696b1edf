"""Runs the app for many visitors: several processes of it behind nginx, watched, replaced and stopped."""
