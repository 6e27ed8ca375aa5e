"""The gateway: requests of unmodified SDKs on their way to a vendor, compacted where they would not fit."""
