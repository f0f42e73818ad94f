"""The local model (ISO/IEC 20889, 10.3.3): answers get their noise at the device, nobody ever sees the true ones.

``device.py`` and ``device.js`` each stand by themselves: they are copied to where people answer. ``estimates`` is for
who collects the answers.
"""
