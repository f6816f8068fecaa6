"""Where weights compute. Core; torch on use."""


def chosen_device(device: str | None = None) -> str:
    """The device that is named, else the GPU where there is one, else the processor.

    On a GPU attention is left to PyTorch's own kernels: cuDNN's prepare themselves anew for every length that they
    meet, and each token that is written makes another. That took more than half of the time of a small model.
    """
    import torch

    found = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if found.startswith("cuda"):
        torch.backends.cuda.enable_cudnn_sdp(False)
    return found
