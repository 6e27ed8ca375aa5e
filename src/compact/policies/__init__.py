"""When a conversation is condensed, and what of it is kept."""

from compact.policies.compaction import CompactConfig, Policy, RedactionSettings, StorageSettings, TracingSettings
from compact.policies.configuration import Configuration, configure
from compact.policies.profiles import CHEAP, Profile, Profiles, Vendor, default_profile, model_of
from compact.policies.retention import Retention, Selection, from_a_request, last_calls, last_turns, last_within, select
from compact.policies.room import AnswerRoom, Room
from compact.policies.session_ids import check_session_id
from compact.policies.threshold import (
    MANAGER,
    PROVIDERS,
    SESSIONS,
    Decision,
    EffectiveThreshold,
    OwnThreshold,
    Threshold,
    effective_threshold,
    should_condense,
)

__all__ = [
    "CHEAP",
    "MANAGER",
    "PROVIDERS",
    "SESSIONS",
    "AnswerRoom",
    "CompactConfig",
    "Configuration",
    "Decision",
    "EffectiveThreshold",
    "OwnThreshold",
    "Policy",
    "Profile",
    "Profiles",
    "RedactionSettings",
    "Retention",
    "Room",
    "Selection",
    "StorageSettings",
    "Threshold",
    "TracingSettings",
    "Vendor",
    "check_session_id",
    "configure",
    "default_profile",
    "effective_threshold",
    "from_a_request",
    "last_calls",
    "last_turns",
    "last_within",
    "model_of",
    "select",
    "should_condense",
]
