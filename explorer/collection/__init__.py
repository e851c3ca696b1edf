"""The Collection screen, and links in other screens' texts to what it lists."""
