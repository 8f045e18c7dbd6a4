"""The paper's algorithm; `alphanpi.learn.paper` is the file to read."""

from __future__ import annotations

from alphanpi.learn.paper import (
    Experience,
    PaperConfig,
    PaperCurriculum,
    PaperLoss,
    PaperParameters,
    PaperTrainer,
    ReplayBuffer,
    paper_loss,
)

__all__ = [
    "Experience",
    "PaperConfig",
    "PaperCurriculum",
    "PaperLoss",
    "PaperParameters",
    "PaperTrainer",
    "ReplayBuffer",
    "paper_loss",
]
