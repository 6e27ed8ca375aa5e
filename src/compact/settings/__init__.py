"""The only reader of files and environment variables."""

from compact.settings.calibrations import load_calibrations, save_calibration, update_calibration
from compact.settings.home import database, home

__all__ = ["database", "home", "load_calibrations", "save_calibration", "update_calibration"]
