"""What every door says to people and programs: safe text, two streams."""
