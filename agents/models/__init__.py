"""What agents remember, and what they did. May import `encoders`, `guard`, `prompts` and all of `annotations`."""

from agents.models.connections import Connection
from agents.models.driving import AskedAction, CannotDrive, Drive
from agents.models.exemplar_sets import ExemplarSet
from agents.models.guarding import CannotDecide, DecidedAlready, GuardRule, HeldStep
from agents.models.memory import Exemplar, MemorySnippet, Workflow, WorkflowVector
from agents.models.pictures import StepPicture
from agents.models.prompts import PromptPack
from agents.models.recipes import SavedRecipe
from agents.models.replies import LlmReply, TextEmbedding
from agents.models.runs import Run, RunTally
from agents.models.steps import TrajectoryStep
from agents.models.trained import TrainedModel
from agents.models.trajectories import Trajectory
from agents.models.transitions import Transition, TransitionVector, WorldModelFit
from agents.models.users import UserLedger

__all__ = [
    "AskedAction",
    "CannotDecide",
    "CannotDrive",
    "Connection",
    "DecidedAlready",
    "Drive",
    "Exemplar",
    "ExemplarSet",
    "GuardRule",
    "HeldStep",
    "LlmReply",
    "MemorySnippet",
    "PromptPack",
    "Run",
    "RunTally",
    "SavedRecipe",
    "StepPicture",
    "TextEmbedding",
    "TrainedModel",
    "Trajectory",
    "TrajectoryStep",
    "Transition",
    "TransitionVector",
    "UserLedger",
    "Workflow",
    "WorkflowVector",
    "WorldModelFit",
]
