"""What is known of a text alone, whoever wrote it: how a program ended, and how foreign text is quoted."""
