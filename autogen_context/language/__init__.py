"""Words of people: how they ask, stems and terms."""
