"""The foundation of all screens: sessions, sign-in, limits, shared resources and security."""
