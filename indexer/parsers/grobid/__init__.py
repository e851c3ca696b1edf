"""GROBID servers: asked, watched, and what they answered kept."""
