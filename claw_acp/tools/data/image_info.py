"""The format, size and orientation of an image."""

from pathlib import Path
from typing import Final

from anyio import to_thread

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ReadsPath, ToolContext, ToolResult
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Location
from claw_acp.core.messages import TextPart
from claw_acp.tools.data.image_header import ImageFacts, image_facts
from claw_acp.tools.display import byte_size, shown_path
from claw_acp.tools.files.unreadable import better_error
from claw_acp.tools.parameters import Parameters, TypedTool, argument

LARGEST: Final = 200_000_000  # bytes
_TURNED: Final = {
    1: "upright", 2: "mirrored", 3: "turned by 180°", 4: "mirrored and turned by 180°",
    5: "mirrored, to be turned by 90° to the left", 6: "to be turned by 90° to the right",
    7: "mirrored, to be turned by 90° to the right", 8: "to be turned by 90° to the left",
}  # fmt: skip
_LYING: Final = 5  # orientations from here on swap width and height


class ImageParameters(Parameters):
    """An image."""

    path: str = argument(min_length=1, description="PNG, JPEG, GIF, WebP, BMP or TIFF file.")


class ImageInfo(TypedTool[ImageParameters]):
    """Describes an image without showing it."""

    name = "image_info"
    description = "Format, width and height in pixels, size in bytes and EXIF orientation of an image file."
    draft = CallDraft(kind="read", verb="Look at", subject="path", is_path=True)
    parameters = ImageParameters
    parallel = True
    on_demand = True

    def bind(self, parameters: ImageParameters, context: ToolContext) -> Invocation:
        """The invocation of one look."""
        return _Looking(context.workspace.locate(parameters.path), context=context)


class _Looking(Invocation):
    def __init__(self, path: Path, *, context: ToolContext) -> None:
        self._path = path
        self._workspace = context.workspace
        self._shown = shown_path(path, workspace=context.workspace)
        self.accesses = (ReadsPath(path=path),)
        self.view = CallView(title=f"Look at {self._shown}", kind="read", locations=(Location(path=str(path)),))

    async def run(self) -> ToolResult:
        """Read the head of the image."""
        try:
            data = await self._workspace.read_bytes(self._path, limit=LARGEST)
        except ToolError as error:
            raise await better_error(error, path=self._path, workspace=self._workspace) from error
        facts = await to_thread.run_sync(image_facts, data)
        if facts is None:
            raise ToolError(f"{self._shown} is not a whole PNG, JPEG, GIF, WebP, BMP or TIFF image.")
        raw = {"format": facts.format, "width": facts.width, "height": facts.height, "bytes": len(data)}
        return ToolResult(parts=(TextPart(text=f"{self._shown}: {_described(facts, len(data))}"),), raw=raw)


def _described(facts: ImageFacts, size: int) -> str:
    words = [facts.format, f"{facts.width} x {facts.height} pixels", byte_size(size)]
    words += [facts.colour] if facts.colour else []
    words += ["animated"] if facts.animated else []
    turned = _TURNED.get(facts.orientation or 0)
    if turned is not None:
        seen = f", so {facts.height} x {facts.width} when shown" if (facts.orientation or 0) >= _LYING else ""
        words.append(f"EXIF orientation {facts.orientation} ({turned}{seen})")
    return ", ".join(words)
