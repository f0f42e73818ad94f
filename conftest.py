"""Examples in modules that need PyTorch are collected only where it is: it is in no lock."""

from importlib.util import find_spec

collect_ignore = (
    []
    if find_spec("torch")
    else [
        "src/shoal/synth/deep_generator/clipped_gradients.py",
        "src/shoal/synth/deep_generator/training.py",
    ]
)
