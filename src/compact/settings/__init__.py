"""The only reader of files and environment variables."""

from compact.settings.calibrations import load_calibrations, update_calibration
from compact.settings.home import database, home

__all__ = ["database", "home", "load_calibrations", "update_calibration"]
