"""Libraries of one's own: kept, grown, shared, taken away and deleted with everything of them."""

from assistant.libraries.export import write_export
from assistant.libraries.keeping import Brought, Gone, Grown, Libraries, LibraryLimits

__all__ = ["Brought", "Gone", "Grown", "Libraries", "LibraryLimits", "write_export"]
