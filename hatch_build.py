"""The web addresses in the metadata of a build, all from one setting (``release_files`` in pyproject.toml)."""

from __future__ import annotations

import re
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReleaseFiles(MetadataHookInterface):
    """The metadata hook that hatchling calls while it builds."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in ``project.urls``; without the setting there are none."""
        files = self.config["release_files"]
        metadata["urls"] = urls(files, tag=f"v{metadata['version']}") if files else {}


def urls(files: str, *, tag: str) -> dict[str, str]:
    """Return ``project.urls`` for the address of the files of a release, in which ``{tag}`` stands for the tag.

    Raises:
        ValueError: the address is not one of a code host, or has no ``{tag}``.

    >>> urls("https://code.example/owner/name/src/tag/{tag}", tag="v1.0")["Repository"]
    'https://code.example/owner/name'
    """
    form = re.fullmatch(r"(https://[^{}]+?)(/-)?/(blob|src)(/tag)?/\{tag\}", files)
    if form is None:
        raise ValueError(f'release_files must be like "https://HOST/OWNER/NAME/blob/{{tag}}", got {files!r}')
    repository, released = form[1], files.format(tag=tag)
    return {
        "Homepage": repository,
        "Documentation": f"{released}/docs/README.md",
        "Repository": repository,
        "Changelog": f"{released}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
