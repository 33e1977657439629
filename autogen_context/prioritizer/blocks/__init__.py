"""What stays of older units: texts cut into blocks, their worth, the choice, and the units put together again."""
