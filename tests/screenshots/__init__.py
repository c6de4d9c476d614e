"""Pictures of every page, taken from the demo on real servers: make screenshots."""
