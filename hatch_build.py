"""Adds the compiled patterns and rules to the wheel; their source is the YAML files."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RegistryHook(BuildHookInterface):  # type: ignore[type-arg]  # for any builder's configuration
    """Compiles the registry for a wheel; an editable install reads the YAML files themselves."""

    PLUGIN_NAME = "registry"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the compiled file to the wheel."""
        if self.target_name != "wheel" or version == "editable":
            return
        sys.path.insert(0, self.root)
        from pytest_dvwiki import secret_rules  # noqa: PLC0415  # the sources stand here
        from pytest_dvwiki.patterns import compiled  # noqa: PLC0415  # the sources stand here
        from pytest_dvwiki.patterns.registry import compile_builtin  # noqa: PLC0415

        self._folder = tempfile.TemporaryDirectory(prefix="dvwiki-")
        target = Path(self._folder.name, compiled.FILE)
        target.write_bytes(compiled.encode(compile_builtin()))
        build_data["force_include"][str(target)] = f"pytest_dvwiki/patterns/builtin/{compiled.FILE}"
        rules = Path(self._folder.name, secret_rules.COMPILED.name)
        rules.write_bytes(secret_rules.compiled())
        build_data["force_include"][str(rules)] = f"pytest_dvwiki/{rules.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the compiled file."""
        folder = getattr(self, "_folder", None)
        if folder is not None:
            folder.cleanup()
