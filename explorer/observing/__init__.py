"""Reports of events: figures and log lines, without anybody's words."""
