"""The web addresses in the metadata of a build, all from one setting (``release_files`` in pyproject.toml).

A package index shows the README without the files that it links to, so its links become whole addresses, too.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^\]]*\]\()([^)\s#]+)")
"""A link or a picture in Markdown: whether it is a picture, its text, its target up to an anchor."""


class ReleaseFiles(MetadataHookInterface):
    """The metadata hook that hatchling calls while it builds."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in ``project.urls`` and ``project.readme``; without the setting no address is written.

        Raises:
            ValueError: the setting is not the address of a release's files.
        """
        root = Path(self.root)
        readme = (root / "README.md").read_text(encoding="utf-8")
        if files := self.config["release_files"]:
            parts = re.fullmatch(r"(https://[^{}]+?)(/-)?/(?:blob|src)(/tag)?/\{tag\}", files)
            if parts is None:
                raise ValueError(f'release_files must be like "https://HOST/OWNER/NAME/blob/{{tag}}", got {files!r}')
            tag = f"v{metadata['version']}"
            repository, shown = parts[1], files.format(tag=tag)
            raw = f"{repository}{parts[2] or ''}/raw{parts[3] or ''}/{tag}"

            def whole(link: re.Match[str]) -> str:
                if not (root / link[3]).exists():
                    return link[0]
                return f"{link[1]}{link[2]}{raw if link[1] else shown}/{link[3]}"

            readme = LINK.sub(whole, readme)
            metadata["urls"] = {
                "Homepage": repository,
                "Documentation": f"{shown}/docs/README.md",
                "Repository": repository,
                "Changelog": f"{shown}/CHANGELOG.md",
                "Issues": f"{repository}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
