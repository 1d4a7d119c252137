"""Prompts and completions as text: a string, or the list of messages that chat templates take."""

import json


def text_of(value: object) -> str:
    """A text as it is; one message as its content; several as `role: content` lines; anything else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) and "content" in one for one in value):
        if len(value) == 1:
            return _content(value[0])
        return "\n".join(f"{one.get('role', '')}: {_content(one)}" for one in value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _content(message: dict[str, object]) -> str:
    content = message["content"]
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else "" if content is None else str(content)
