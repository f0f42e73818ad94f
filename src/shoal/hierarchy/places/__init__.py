"""Facts about places: towns, states, zones, countries and regions of the world, and which lies in which."""
