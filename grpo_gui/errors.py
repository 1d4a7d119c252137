"""The errors that a person may read: each message names the thing and the next step."""


class GrpoGuiError(Exception):
    """Base of every error whose message is meant for the user."""


class BadInputError(GrpoGuiError):
    """The user handed in something that cannot be used; the CLI ends with exit code 2."""


class StoreError(GrpoGuiError):
    """The database cannot be opened, read or written (disk full, read-only, newer version, no database)."""


class MissingDatabaseError(StoreError, BadInputError):
    """There is no database at the place that the user named."""


class ModelError(GrpoGuiError):
    """A model folder, checkpoint or tokenizer cannot be loaded or used."""


class SnapshotError(GrpoGuiError):
    """A snapshot is missing, damaged, of a newer version, or cannot be written."""


class TrainingError(GrpoGuiError):
    """Training cannot go on (non-finite loss, out of memory, a reward function that failed)."""


class MissingExtraError(GrpoGuiError):
    """An optional package is needed; the message holds the one install command."""


class RewardError(TrainingError):
    """A reward function failed; the run pauses. `details` holds the completion and the traceback."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details
