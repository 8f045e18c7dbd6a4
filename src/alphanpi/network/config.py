"""Sizes of the network."""

from __future__ import annotations

from pydantic import Field

from alphanpi.support.config import Config

MOST_UNITS = 8192  # of one layer
MOST_WINDOW = 64


class NetworkConfig(Config):
    """Sizes of the five modules, which are the paper's, and of the window."""

    observation_encoding: int = Field(32, ge=1, le=MOST_UNITS, description="S, output of the observation encoder")
    encoder_hidden: int = Field(100, ge=1, le=MOST_UNITS, description="hidden units of the observation encoder")
    program_embedding: int = Field(256, ge=1, le=MOST_UNITS, description="P, length of a program embedding")
    memory: int = Field(128, ge=1, le=MOST_UNITS, description="H, units of the LSTM")
    head_hidden: int = Field(64, ge=1, le=MOST_UNITS, description="hidden units of the actor and of the critic")
    window: int = Field(
        1,
        ge=0,
        le=MOST_WINDOW,
        description="how many observations of a call the network sees, the last ones, each with the action before it; "
        "0: all of them, without actions (paper)",
    )
    largest_window: int = Field(
        4, ge=0, le=MOST_WINDOW, description="to which a window grows where a program does not get better any more"
    )
    action_embedding: int = Field(
        32, ge=1, le=MOST_UNITS, description="length of the embedding of the action before, with a window"
    )
