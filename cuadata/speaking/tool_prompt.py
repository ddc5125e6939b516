"""How the Qwen chat templates put tools before a model, as text.

A vision data set of TRL keeps no `tools` column and the vision templates render no tool calls, so the tools stand in the
system text. The frame around them is the templates' own, byte for byte, so that training, rollouts and the models' own
training show the same; a test renders the templates that TRL ships and compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

Tool = Mapping[str, Any]

_JSON_HEAD: Final = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
)
_JSON_TAIL: Final = (
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n"
    '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)
_XML_HEAD: Final = "# Tools\n\nYou have access to the following functions:\n\n<tools>"
_XML_TAIL: Final = (
    "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n"
    "<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
    "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple lines\n"
    "</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n"
    "- Function calls MUST follow the specified format: an inner <function=...></function> block must be nested within "
    "<tool_call></tool_call> XML tags\n- Required parameters MUST be specified\n"
    "- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT "
    "after\n- If there is no function call available, answer the question like normal with your current knowledge and do "
    "not tell the user about function calls\n</IMPORTANT>"
)


def json_block(tools: Sequence[Tool], before: str = "") -> str:
    """System text of Qwen2.5 and Qwen3-VL: JSON calls in `<tool_call>` tags; `before` stands first."""
    return "".join([f"{before}\n\n" if before else "", _JSON_HEAD, *_lines(tools), _JSON_TAIL])


def xml_block(tools: Sequence[Tool], after: str = "") -> str:
    """System text of Qwen3.5: function and parameter tags; `after` stands last."""
    return "".join([_XML_HEAD, *_lines(tools), _XML_TAIL, f"\n\n{after}" if after else ""])


def _lines(tools: Sequence[Tool]) -> list[str]:
    return ["\n" + json.dumps(tool, ensure_ascii=False) for tool in tools]


def function(
    name: str, description: str, properties: Mapping[str, Any], required: Sequence[str] = ()
) -> dict[str, Any]:
    """A tool in the form that chat templates take."""
    parameters = {"type": "object", "properties": dict(properties), "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}
