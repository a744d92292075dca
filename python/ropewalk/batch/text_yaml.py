"""YAML of which every value is text, as it is written. `012`, `yes` and `1:30` are a number, a truth value and a time of 90 seconds in
YAML 1.1, which PyYAML reads, and others in YAML 1.2, which the command of a checkout reads."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.constructor import ConstructorError


def read_text_yaml(text: str) -> Any:
    """Mappings, lists, texts and None. Merge keys (`<<`) work; a key that is there twice is an error. Raises yaml.YAMLError."""
    return yaml.load(text, _Loader)


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, Any] = {}

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise ConstructorError(None, None, f"the key {repeated} is there twice", node.start_mark)
        return node


def _text(loader: _Loader, node: yaml.ScalarNode) -> str:
    return str(node.value)


_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile("^<<$"), ["<"])
# With an explicit tag, as in `!!int 012`.
for _name in ("int", "float", "bool", "timestamp", "binary"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_name}", _text)
