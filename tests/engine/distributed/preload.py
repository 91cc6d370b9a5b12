"""What the server of processes imports, once, before it forks any."""

import torch
from diffusers import LTX2VideoTransformer3DModel, MiniMaxH3Transformer3DModel  # noqa: F401

import engine.distributed.worker
import engine.models.audio_video.load
import engine.models.pocket.sampler
import engine.models.wan.load  # noqa: F401

torch.set_num_threads(1)
