"""Output folders that appear whole: work goes into a hidden folder beside them, and a rename ends it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from cuadata.errors import CallError, DataError
from cuadata.recordings import recording_files


def partial(out: Path) -> Path:
    """The hidden folder beside `out` where work in progress lies: same disk, so that a rename moves it."""
    whole = Path(os.path.abspath(out))
    return whole.parent / f".{whole.name}.partial"


def refuse(out: Path, *, force: bool, reads: Iterable[Path | str] = ()) -> None:
    """CallError where `out` cannot become an output folder: it holds something, is a file, or may not be written.

    `force` lets it replace what it holds, but for what is lost with it: see `spare`.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise CallError(f"{out} is a file or a link; give the name of a folder that is not there yet")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise CallError(f"{out} holds something already; give another folder, or --force to replace it")
    spare(out, reads)
    _writable(out)


def refuse_files(out: Path, *, force: bool, reads: Iterable[Path | str] = (), held: str = "") -> None:
    """CallError where files may not be written into the folder `out`, over those of the same names.

    That is where it holds something, and with `force` where it is or holds what `spare` keeps. `held`: what it lacks,
    for the message.
    """
    if out.exists() and not out.is_dir():
        raise CallError(f"{out} is a file; give the name of a folder")
    if out.is_dir() and any(out.iterdir()):
        if not force:
            raise CallError(f"{out} is not empty{held and f' and holds no {held}'}; give another folder, or --force")
        spare(out, reads)
    _writable(out)


def _writable(out: Path) -> None:
    """CallError where this user may make or fill no folder there."""
    parent = _nearest(out)
    if not os.access(parent, os.W_OK | os.X_OK) or _read_only(parent):
        raise CallError(f"{out} cannot be written: {parent} is read-only for this user; give another folder")


def spare(out: Path, reads: Iterable[Path | str] = (), *, recordings: bool = True) -> None:
    """CallError where replacing the folder `out` would take along what nothing makes again.

    That is what the work `reads`, the working or the home folder, a repository, and `recordings`, at any depth.
    """
    whole = out.resolve()
    held = [("the input", Path(one)) for one in reads]
    held += [("the working folder", Path.cwd()), ("the home folder", Path(os.path.expanduser("~")))]
    for words, one in held:
        if one.resolve().is_relative_to(whole):
            raise CallError(f"{out} is or holds {words} {one}, which would be deleted; give another folder")
    for where, folders, files in os.walk(out):
        if ".git" in folders or ".git" in files:
            raise CallError(f"{out} holds a repository at {where}, which would be deleted; give another folder")
        if recordings and recording_files.HEADER in files and recording_files.STEPS in files:
            raise CallError(f"{out} holds a recording at {where}, which would be deleted; give another folder")


def _nearest(out: Path) -> Path:
    """The folder that exists and would hold `out`. CallError where a file is in the way."""
    for parent in Path(os.path.abspath(out)).parents:
        if parent.is_dir():
            return parent
        if parent.exists():
            raise CallError(f"{out} cannot be written: {parent} is a file, not a folder")
    raise CallError(f"{out} cannot be written: no folder above it exists")


def _read_only(folder: Path) -> bool:
    """Whether the file system refuses to be written, which `os.access` does not tell for every user."""
    probe = folder / f".cuadata-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DataError("no space is left on the disk", place=str(folder)) from error
        return True
    return False


def publish(made: Path, out: Path) -> None:
    """Move a finished folder to its name at once, in place of what stands there."""
    out = Path(os.path.abspath(out))
    old = out.parent / f".{out.name}.old"
    shutil.rmtree(old, ignore_errors=True)
    if out.is_dir():
        out.rename(old)
    try:
        made.rename(out)
    except OSError:
        if old.is_dir():
            old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep a folder for this process; it is made where it is not there, and goes again where it stays empty.

    CallError where another process holds it, or it is a file; DataError where it cannot be made. The lock goes with the
    process, however that ends.
    """
    with disk_errors(folder):
        if folder.exists() and not folder.is_dir():
            raise CallError(f"{folder} is a file; give the name of a folder")
        folder.mkdir(parents=True, exist_ok=True)
        held = _locked(folder)
    try:
        yield
    finally:
        with suppress(OSError):
            folder.rmdir()
        if held is not None:
            os.close(held)


def _locked(folder: Path) -> int | None:
    """A descriptor of the folder that holds its lock; None on systems and disks that have none, whose users take care."""
    try:
        import fcntl
    except ImportError:
        return None
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            held = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:  # whoever had it took it away in between
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(held), os.stat(folder)):
                return held
        except FileNotFoundError:
            pass
        except OSError as error:
            os.close(held)
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                return None
            name = folder.name.removeprefix(".").removesuffix(".partial")
            raise CallError(
                f"another process is writing {folder.with_name(name)}; wait for it, or give another folder"
            ) from error
        os.close(held)


@contextmanager
def files_into(out: Path, *, replaces: Sequence[Path] = ()) -> Iterator[Path]:
    """A temporary folder whose content moves into `out` when the block ends well; after an error nothing of it is left.

    `replaces` are files and folders of `out` that go when the new ones come. A folder takes the place of one that stands
    there, with all that is in it. CallError where another process does the same.
    """
    made = partial(out)
    with alone(made):
        for left in made.iterdir():  # of a process that was killed
            _remove(left)
        try:
            yield made
            out.mkdir(parents=True, exist_ok=True)
            for old in replaces:
                _remove(old)
            for one in sorted(made.iterdir()):
                if one.is_dir():
                    publish(one, out / one.name)
                else:
                    one.rename(out / one.name)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _remove(path: Path) -> None:
    """Take away a file, a link or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def put(file: Path, data: bytes | str) -> None:
    """Write a file whole or leave what was there: it is written beside its name, and a rename ends it.

    DataError where the disk is full or may not be written.
    """
    half = file.with_name(f".{file.name}.{os.getpid()}.partial")
    with disk_errors(file):
        try:
            half.write_bytes(data.encode(errors="replace") if isinstance(data, str) else data)
            half.replace(file)
        finally:
            half.unlink(missing_ok=True)


@contextmanager
def disk_errors(place: Path) -> Iterator[None]:
    """Turn what a disk says (full, read-only, quota, a file too large) into a DataError with the place."""
    known = {
        errno.ENOSPC: "no space is left on the disk",
        errno.EDQUOT: "the disk quota is used up",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "this user may not write there",
        errno.EFBIG: "the file would be larger than the system allows",
    }
    try:
        yield
    except OSError as error:
        words = known.get(error.errno or 0)
        if words is None:
            raise
        raise DataError(
            words,
            place=str(place if error.filename is None or str(error.filename).endswith(".partial") else error.filename),
        ) from error
