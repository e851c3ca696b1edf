"""Whether all is well, and making room: doctor, verify, compact."""

from indexer.maintenance.compact import compact_home
from indexer.maintenance.verify import verify

__all__ = ["compact_home", "verify"]
