"""Making archives."""

import bz2
import gzip
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Final

_GZIP: Final = partial(gzip.compress, mtime=0)
_TARS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    ".tar": bytes, ".tar.gz": _GZIP, ".tgz": _GZIP, ".tar.xz": lzma.compress, ".tar.bz2": bz2.compress,
}  # fmt: skip


def packed(contents: Sequence[tuple[str, int, bytes]], *, suffix: str) -> bytes:
    """The bytes of an archive of this kind, the same for the same files: names, permissions and contents."""
    made = BytesIO()
    if suffix == ".zip":
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, permissions, content in contents:
                entry = zipfile.ZipInfo(name)
                entry.external_attr = (stat.S_IFREG | permissions) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)
        return made.getvalue()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, permissions, content in contents:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), permissions
            tar.addfile(info, BytesIO(content))
    return _TARS[suffix](made.getvalue())
