"""What measures and checks: machine facts, profilers, correctness. Knows no MCP."""
