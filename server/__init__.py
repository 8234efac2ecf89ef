"""What a client sees: tools, resources, prompts, transports, the command line. Measures nothing."""
