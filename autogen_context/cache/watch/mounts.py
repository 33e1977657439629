"""Which folders lie on a file system that others write to unheard.

Promise: what is known of file systems over a network, or out of another machine, is said; of all others, nothing.
"""

import re
from pathlib import Path

from autogen_context.cache.watch.path import is_within

# What another machine writes there, the kernel of this one does not learn.
REMOTE = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "coda", "lustre", "gpfs"),
        *("beegfs", "glusterfs", "gfs2", "ocfs2", "orangefs", "davfs"),
        *("virtiofs", "vboxsf", "vmhgfs", "prl_fs", "drvfs", "fakeowner", "fuse"),
    }
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def remote_type(folder: str, mounts: str) -> str | None:
    """The type of the remote file system that a folder lies on, or that is mounted somewhere below it.

    Args:
        folder: absolute, with no link in its path.
        mounts: what is mounted, as in ``/proc/mounts``; later lines stand before earlier ones.

    Returns:
        The type as the system names it; ``None`` if there is none.

    Source:
        https://man7.org/linux/man-pages/man5/proc_mounts.5.html
    """
    types = dict(_mounted(line.split(" ")) for line in mounts.splitlines() if line.count(" ") > 1)
    around = [point for point in types if is_within(folder, point)]
    below = [point for point in types if is_within(point, folder)]
    found = (types[point] for point in [*sorted(around, key=len)[-1:], *sorted(below)])
    return next((kind for kind in found if _is_remote(kind)), None)


def mounted_now() -> str:
    """What is mounted on this system; nothing where it does not say."""
    try:
        return Path("/proc/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _mounted(fields: list[str]) -> tuple[str, str]:
    """The folder of a line, and its type."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[1]), fields[2]


def _is_remote(kind: str) -> bool:
    return kind in REMOTE or kind.startswith("fuse.")
