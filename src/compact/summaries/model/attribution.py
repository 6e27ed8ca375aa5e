"""The words by which a statement says that a person, or their task, wants something."""

from __future__ import annotations

import re

_PERSON = r"(?:user|person|human|customer)"
# These say something in a conversation, and do something in a program: a client requests and expects.
_SOMEBODY = rf"(?:{_PERSON}|client|owner|operator|developer|maintainer|admin\w*)"
_SAID_SO = r"(?:want|wish|ask|demand|instruct|order|approv|authori[sz]|consent|insist|forbid|forbade|said|says)\w*"
_WISH = (
    rf"(?:{_SAID_SO}|(?:request|requir|permit|allow|expect|prefer|confirm|stress|remind|warn|specif|decid|agree"
    r"|declin|refus|reject|prohibit)\w*|chose\b)"
)
_TASK = (
    r"(?:task|issue|ticket|brief|(?:task|issue) description|(?:first|last|latest|original) (?:message|request|prompt))"
)
_RULE = (
    r"(?:requirement|rule|constraint|condition|instruction|order|demand|wish|request|preference|decision|feedback"
    r"|approval|consent|permission)(?:e?s)?"
)
_ADVERBS = r"(?:(?:has|had|have|is|was|does|did|not|never|also|now|then|still|\w+ly) )*"
DENIED = re.compile(
    r"\b(?:did|has|have|had|was|were)(?: not| never|n't)\b[^.;]{0,40}"
    r"|\b(?:never|not|nor|nothing|nobody|none)(?: \w+){0,2} (?:said|asked|requested|wanted|mentioned)\b[^.;]{0,40}"
    rf"|\b{_PERSON}'s (?:\w+ ){{0,2}}\w+ (?:is|are|was|were) not\b[^.;]{{0,40}}"
    rf"|\bnot (?:(?:from|by) )?(?:the|a) {_PERSON}\b(?:'s\b)?[^.;]{{0,30}}"
    rf"|\b(?:no|not an?) {_RULE} (?:of|from|by) the {_PERSON}\b"
    rf"|\b(?:wait\w*|await\w*|need\w*|pending|until)(?: for| on)? the {_PERSON}'s (?:\w+ )?"
    r"(?:confirmation|approval|answer|reply|decision|feedback|consent|permission)\b",
    re.IGNORECASE,
)
"""What a person did not say, or has yet to say."""
_SPEAKS = rf"(?:\A|[→;]\s?){_PERSON}:"
_DEMANDED = r"(?:ask|request|demand|instruct|order|requir|prescrib|want|insist|forbid|call)\w*"
ATTRIBUTED = re.compile(
    rf"\b{_PERSON} {_ADVERBS}{_WISH}|\b{_SOMEBODY} {_ADVERBS}{_SAID_SO}"
    rf"|\b{_PERSON}'s (?:\w+ ){{0,2}}(?:{_WISH}|{_RULE}\b)"
    rf"|\b(?:{_WISH}(?: for)?|extended|changed|dictated|imposed|stated|named|laid down|ruled out|set|given)"
    rf" (?:by|with) the {_SOMEBODY}\b"
    rf"|\bfrom the {_PERSON}\b|\bfor the {_PERSON}:"
    rf"|\b(?:according to|per|on behalf of|at the request of) the (?:\w+ ){{0,2}}{_PERSON}\b"
    rf"|\b{_RULE} (?:of|from|by|in) the (?:{_PERSON}|{_TASK})\b"
    rf"|\b{_TASK} {_ADVERBS}{_DEMANDED}|\b{_DEMANDED}(?: for)? (?:by|in) the (?:{_TASK}|plan)\b"
    rf"|\bplan {_ADVERBS}(?:demand|requir|insist|forbid|prescrib)\w*"
    rf"|\bthey {_ADVERBS}(?:ask|demand|insist|instruct|order)ed\b"
    rf"|\b(?:he|she) {_ADVERBS}(?:{_SAID_SO}|chang\w+ (?:his|her) mind|would (?:like|rather|prefer)\b)"
    rf"|\b(?:his|her) (?:(?:explicit|express|own|new|last|latest|firm|clear) )?{_RULE}\b"
    rf"|\bit (?:is|was|has been) (?:also |explicitly )?(?:request|demand|order|ask)ed\b"
    rf"|\bas (?:(?:the {_SOMEBODY}|he|she|they) {_WISH}|(?:ask|request|demand|instruct|order|promis)ed\b)"
    rf"|\b(?:says|said) the {_SOMEBODY}\b|{_SPEAKS}"
    rf"|\b{_PERSON} (?:told|is waiting|waits|would (?:like|rather)|made it|(?:called|calls|considers) (?:it|this|that)"
    r"|insists|needs|hopes|is willing|laid down|ruled out|gave (?:permission|leave|the order))\b",
    re.IGNORECASE,
)
