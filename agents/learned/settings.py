"""What can be set about a training of this planner. Core: frozen data, no torch."""

from dataclasses import dataclass

from agents.recipes.declaring import SettingGroup, setting


@dataclass(frozen=True)
class Settings(SettingGroup):
    """The settings of a training. The defaults were chosen on `dev` and on left-out tasks of `train`, never on a test
    split."""

    epochs: int = setting(14, "how often the network learns from `epoch_steps` steps", least=1)
    epoch_steps: int = setting(4000, "steps of an epoch, drawn with replacement", least=1)
    batch_size: int = setting(64, "steps that are learned from at once", least=1)
    learning_rate: float = setting(2e-3, "the highest one, after the warm-up", above=0)
    decay: float = setting(0.02, "weight decay", least=0)
    group_power: float = setting(0.5, "a task with n steps is drawn in proportion to n to this power", least=0, most=1)
    hidden: int = setting(128, "width of the network's layers", least=1)
    dropout: float = setting(0.2, "share of a layer's outputs that a step leaves out", least=0, most=1)
    forget: float = setting(0.4, "share of steps that see how elements relate, and not what is asked", least=0, most=1)
    without_quotes: bool = setting(True, "each instruction with quotes is learned from a second time without the marks")
    relations: bool = setting(True, "elements are compared by what they and their surroundings say together")
    noise: float = setting(0.02, "standard deviation added to each number of a unit vector", least=0)
    networks: int = setting(
        2, "networks trained one after the other with seeds of their own; their probabilities are averaged", least=1
    )
    seed: int = setting(0, "of everything random", least=0)
