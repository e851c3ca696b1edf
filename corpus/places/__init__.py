"""Where files of a corpus lie: in a folder, or in a bucket."""
