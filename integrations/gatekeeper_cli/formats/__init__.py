"""The formats that conversations are kept in, one module each, without the frameworks that they come from."""
