"""JSON schemas of message types, as an OpenAPI document wants them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

Schema = dict[str, Any]

_REF: Final = "#/components/schemas/{name}"


class Schemas:
    """The schemas of all types of one document; `components` are those with a name.

    - `asked`: types of bodies that clients send. A field with a default may be left out.
    - `answered`: types of bodies that we send. Every field is there, unless its default is `UNSET`, and there is no other.
    - `refined`: what the types cannot say, by type and field ("": the type itself); it stands beside what they do say.
    """

    def __init__(self, *, asked: Iterable[Any], answered: Iterable[Any], refined: Mapping[Any, Mapping[str, Schema]]) -> None:
        asked, answered = [*_each(asked)], [*_each(answered)]
        self.components: Schema = {}
        sent = msgspec.json.schema_components(asked, ref_template=_REF)[1]
        for name, schema in msgspec.json.schema_components([*asked, *answered], ref_template=_REF)[1].items():
            self.components[name] = _plain(schema if name in sent else _complete(schema))
        for kind, fields in refined.items():
            _refine(self.components[kind.__name__], fields)

    def of(self, kind: Any) -> Schema:
        """Returns the schema of `kind`: a reference where the type has a name. A tuple of types is one of them."""
        if isinstance(kind, tuple):
            return {"oneOf": [self.of(each) for each in kind]}
        (schema,), _ = msgspec.json.schema_components([kind], ref_template=_REF)
        return dict(_plain(schema))


def _each(kinds: Iterable[Any]) -> Iterator[Any]:
    for kind in kinds:
        yield from kind if isinstance(kind, tuple) else (kind,)


def _complete(schema: Schema) -> Schema:
    """Returns the schema of a type that only we write: a default is written, too."""
    if schema.get("type") != "object" or "properties" not in schema:
        return schema
    always = [name for name, each in schema["properties"].items() if name in schema["required"] or "default" in each]
    fields = {name: {key: value for key, value in each.items() if key != "default"} for name, each in schema["properties"].items()}
    return schema | {"required": always, "additionalProperties": False, "properties": fields}


def _refine(schema: Schema, fields: Mapping[str, Schema]) -> None:
    for name, more in fields.items():
        (schema["properties"][name] if name else schema).update(more)


def _plain(value: Any) -> Any:
    r"""Returns `value` without what only Python reads: the names of classes as titles, and `\Z` for the end of a text."""
    match value:
        case dict():
            return {key: _words(key, _plain(each)) for key, each in value.items() if key != "title" or not isinstance(each, str)}
        case list():
            return [_plain(each) for each in value]
    return value


def _words(key: str, value: Any) -> Any:
    match key, value:
        case "pattern", str():
            return value.removesuffix(r"\Z") + "$" * value.endswith(r"\Z")
        case "description", str():
            return " ".join(value.partition("\n\n")[0].split())
    return value
