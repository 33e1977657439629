"""What texts have to do with a query: by their words, by their meaning, and by who said them."""
