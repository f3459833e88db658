"""Environments for agents that learn, from the same rules as are served: PettingZoo and Gymnasium.

They need an extra: ``pip install 'parlour[agents]'``.
"""

from parlour.agents.codec import ActionCodec
from parlour.agents.gymnasium import SoloEnv, solo_env
from parlour.agents.pettingzoo import GameEnv, ParallelGameEnv, aec_env, parallel_env

__all__ = ["ActionCodec", "GameEnv", "ParallelGameEnv", "SoloEnv", "aec_env", "parallel_env", "solo_env"]
