"""Reports as pages: one file each, which opens everywhere, asks nothing of the network, and prints."""
