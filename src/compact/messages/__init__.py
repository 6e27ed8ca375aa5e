"""Conversations as immutable values, and plans of edits over them."""

from compact.messages.apply import apply, apply_plan, restore
from compact.messages.blocks import (
    Attachment,
    Block,
    Image,
    Json,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from compact.messages.check import Problem, Rules, Violation, check
from compact.messages.conversation import (
    ROLES_NEVER_PRUNED,
    Conversation,
    Dialect,
    Message,
    Neighbours,
    Tool,
    Which,
    protect,
)
from compact.messages.edits import Drop, Edit, Fold, Pass, Plan, Replace, Where
from compact.messages.exchanges import Exchange, Place, current_step, exchanges, pairs, untouchable
from compact.messages.frozen import common_prefix, freeze
from compact.messages.references import MARK, Numbering, Reference, Segment, checksum, fingerprint, segments
from compact.messages.resolve import has_references, mend, unfold, unresolved
from compact.messages.seals import is_summary, seal, version_of
from compact.messages.texts import message_texts, texts
from compact.messages.written import digest_of, message_bytes, plan_from_json, plan_to_json

__all__ = [
    "MARK",
    "ROLES_NEVER_PRUNED",
    "Attachment",
    "Block",
    "Conversation",
    "Dialect",
    "Drop",
    "Edit",
    "Exchange",
    "Fold",
    "Image",
    "Json",
    "Message",
    "Neighbours",
    "Numbering",
    "Opaque",
    "Part",
    "Pass",
    "Path",
    "Place",
    "Plan",
    "Problem",
    "Reasoning",
    "Reference",
    "Replace",
    "Rules",
    "Segment",
    "Text",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Violation",
    "Where",
    "Which",
    "apply",
    "apply_plan",
    "check",
    "checksum",
    "common_prefix",
    "current_step",
    "digest_of",
    "exchanges",
    "fingerprint",
    "freeze",
    "has_references",
    "is_summary",
    "mend",
    "message_bytes",
    "message_texts",
    "pairs",
    "plan_from_json",
    "plan_to_json",
    "protect",
    "restore",
    "seal",
    "segments",
    "texts",
    "unfold",
    "unresolved",
    "untouchable",
    "version_of",
]
