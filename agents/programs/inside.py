"""The process that runs one program: `python -I -S inside.py`, told over the socket on its standard input. Core.

Standard library alone, as nothing of the app belongs in here. What it answers is not to be trusted: `confined.py`
checks it. The program's names lead nowhere (no builtins but plain ones, no attributes with underscores, modules as bare
collections of their functions); should it get out of that all the same, the kernel lets the process open nothing, start
nothing and signal nobody.
"""

import _strptime  # type: ignore[import-not-found]
import ast
import collections
import copy
import ctypes
import datetime
import functools
import heapq
import html
import itertools
import json
import math
import operator
import os
import platform
import re
import resource
import statistics
import string
import struct
import sys
import unicodedata
from types import ModuleType, SimpleNamespace
from typing import Any

MODULES: dict[str, ModuleType] = {
    "collections": collections,
    "datetime": datetime,
    "functools": functools,
    "html": html,
    "itertools": itertools,
    "json": json,
    "math": math,
    "operator": operator,
    "re": re,
    "statistics": statistics,
    "string": string,
}
"""What programs may import."""
LOADED = (_strptime, copy, heapq, unicodedata)  # others load these when first used, when files are closed to them
BUILTINS = """
    abs all any ascii bin bool bytes callable chr dict divmod enumerate filter float format frozenset hash hex int
    isinstance issubclass iter len list map max min next oct ord pow range repr reversed round set slice sorted str sum
    tuple zip ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError NameError
    NotImplementedError OverflowError RecursionError RuntimeError StopIteration TypeError ValueError ZeroDivisionError
""".split()
FRAMES = ("gi_", "cr_", "ag_", "tb_", "f_")  # attributes with which one climbs out of a function
# Of the modules, what reaches attributes by their names as text.
NOT_HANDED_ON = frozenset({"attrgetter", "methodcaller", "Formatter", "update_wrapper", "wraps"})
METHODS = ("type", "click_xpath", "press", "click_option", "movemouse")  # of `agent`, as published
MOST_CALLS, LONGEST = 100, 10_000  # calls of a program, and characters of what one is given
# Numbers of the system calls that a process without files, network and children needs.
X86_64, AARCH64 = (0xC000003E, "x86_64"), (0xC00000B7, "aarch64")
CALLS = {
    # read write close fstat lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn mremap madvise exit
    # gettimeofday sigaltstack futex restart_syscall clock_gettime exit_group getrandom
    X86_64[1]: (0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 25, 28, 60, 96, 131, 202, 219, 228, 231, 318),
    AARCH64[1]: (63, 64, 57, 80, 62, 222, 226, 215, 214, 134, 135, 139, 216, 233, 93, 169, 132, 98, 128, 113, 94, 278),
}
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000  # refused: EPERM
UNCONFINED = "programs that models write do not run here: this system does not filter their system calls (seccomp)"
NO_NEW_PRIVILEGES, SECCOMP, FILTERED = 38, 22, 2
ENDS_WITH_PARENT, KILLED = 1, 9


class NameRefused(ValueError):
    """The program uses a name that it may not use."""


class TooManyCalls(BaseException):
    """The program makes too many calls. As a BaseException it is not caught by the program's `except Exception`."""


def main() -> None:
    asked = json.loads(_read())
    confined = confine(asked["megabytes"], asked["seconds"])
    if confined or asked["unconfined"]:
        answer = run(asked["code"], asked["state"])
    else:
        answer = {"calls": [], "error": UNCONFINED, "obs": None}
    _write(json.dumps(answer | {"confined": confined}).encode())
    os._exit(0)  # nothing that the program left behind runs


def confine(megabytes: int, seconds: int) -> bool:
    """Give up everything but memory and time; whether the kernel filters system calls too."""
    for descriptor in (1, 2):
        os.close(descriptor)
    memory = megabytes << 20
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_NOFILE: 0,  # no file or socket can be opened any more
    }
    for kind, most in limits.items():
        resource.setrlimit(kind, (most, most))
    return _filter_calls()


def _filter_calls() -> bool:
    machine = platform.machine()
    calls = CALLS.get(machine, ())
    architecture = dict(((name, number) for number, name in (X86_64, AARCH64))).get(machine)
    if architecture is None or not sys.platform.startswith("linux"):
        return False
    steps = [(LOAD, 0, 0, 4), (JUMP_IF_EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    steps += [(JUMP_IF_EQUAL, len(calls) - place, 0, number) for place, number in enumerate(calls)]
    steps += [(RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    program = ctypes.create_string_buffer(code)
    told = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
    libc = ctypes.CDLL(None)
    libc.prctl(ENDS_WITH_PARENT, KILLED, 0, 0, 0)  # a worker that is killed leaves no program behind
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(SECCOMP, FILTERED, ctypes.byref(told), 0, 0) == 0)


def run(code: str, state: str | None) -> dict[str, Any]:
    """What came of a program: {calls: [[method, text]], error}, and of one that is given a `state` its `obs`."""
    calls: list[list[str]] = []
    names: dict[str, Any] = {"__builtins__": _builtins(), "__name__": "program"}
    names |= {"agent": _agent(calls)} if state is None else {"state": state}
    error, obs = "", None
    try:
        exec(compile(checked(code), "program", "exec"), names)  # what this process is for, confined  # nosec B102
        obs = names.get("obs")
    except TooManyCalls:
        error = f"it made more than {MOST_CALLS} calls"
    except MemoryError:
        error = "it needed more memory than a program may have"
    except BaseException as caught:  # whatever a program raises is told, and nothing more
        error = f"{type(caught).__name__}: {_words_of_error(caught)}"[:300]
    return {"calls": calls, "error": error, "obs": obs if type(obs) is str else None}


def _words_of_error(caught: BaseException) -> str:
    try:
        return str(caught)
    except BaseException:
        return ""


def checked(code: str) -> ast.Module:
    """The syntax tree of a program. NameRefused for names by which it could reach further; SyntaxError where it is no
    Python."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        for attribute in _read_attributes(node):
            if attribute.startswith(("_", *FRAMES)):
                raise NameRefused(f"programs may not read .{attribute}")
        if isinstance(node, ast.Name) and node.id.startswith("__"):
            raise NameRefused(f"programs may not name {node.id}")
        for name in _imported(node):
            if name not in MODULES:
                raise NameRefused(f"programs may not import {name}; they may: {', '.join(MODULES)}")
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            if alias.name.startswith("_") or (alias.asname or "").startswith("__"):
                raise NameRefused(f"programs may not import {alias.name} as {alias.asname or alias.name}")
    return tree


def _read_attributes(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Attribute):
        return [node.attr]
    return node.kwd_attrs if isinstance(node, ast.MatchClass) else []


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "." * node.level]
    return []


def _builtins() -> dict[str, Any]:
    own = vars(sys.modules["builtins"])
    return {name: own[name] for name in BUILTINS} | {"print": _nothing, "__import__": _import}


def _nothing(*_: Any, **__: Any) -> None:
    """Stands in for `print`, which has nobody to print for."""


def _import(name: str, *_: Any, **__: Any) -> SimpleNamespace:
    """The functions and classes of a module, without the modules that it has imported itself."""
    if name not in MODULES:
        raise ImportError(f"programs may not import {name}")
    module = MODULES[name]
    offered = getattr(module, "__all__", None) or [own for own in vars(module) if not own.startswith("_")]
    found = {own: getattr(module, own) for own in offered if own not in NOT_HANDED_ON}
    return SimpleNamespace(**{own: one for own, one in found.items() if not isinstance(one, ModuleType)})


def _agent(calls: list[list[str]]) -> SimpleNamespace:
    """The object `agent` that programs call. Calls are appended to `calls`, and carried out elsewhere."""

    def method(name: str) -> Any:
        def call(text: str) -> None:
            if type(text) is not str or len(text) > LONGEST:
                raise TypeError(f"agent.{name} takes a text of at most {LONGEST:,} characters")
            if len(calls) >= MOST_CALLS:
                raise TooManyCalls
            calls.append([name, text])

        return call

    return SimpleNamespace(**{name: method(name) for name in METHODS})


def _read() -> bytes:
    data = bytearray()
    while received := os.read(0, 1 << 20):
        data += received
    return bytes(data)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(0, data) :]


if __name__ == "__main__":
    main()
