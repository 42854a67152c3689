"""Reports as pages: one self-contained file each, printable and without network access."""
