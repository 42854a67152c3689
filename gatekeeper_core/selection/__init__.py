"""CHOOSE: the stages that find the turns a query needs; pure, without I/O, clock or randomness."""
