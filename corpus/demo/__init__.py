"""The demonstration collection: sixteen short papers written for this project."""
