"""A small neural network that draws tables, trained with or without differential privacy (MeitY 2.8.1, imdpGAN).

Only training needs PyTorch (extra ``deep``); to draw from a trained network NumPy suffices.
"""
