"""Made-up data that comes with Shoal, to try it on before it sees a real person."""
