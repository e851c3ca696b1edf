"""Conversations and the papers they cite in other formats: formatting only."""
