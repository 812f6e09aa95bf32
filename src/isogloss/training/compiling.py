"""How the compiled learners are compiled, and asking memory for a row before it is needed.

Compiled code is kept on disk, since compiling takes seconds. To see whether it is out of date, numba looks at the file
of the function that Python calls: whoever changes one that is only called from another file touches that file too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

# Sums may be reordered, so that they use whole registers; but a value that is not a number must still be seen as such,
# which the rest of "fast mathematics" gives up.
_FAST = {"contract", "reassoc", "nsz", "arcp"}
_tools: Any = cgutils  # has no types
_intrinsic: Callable[[Any], Any] = intrinsic


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on the first call."""
    return _compile(function, parallel=False)


def compiled_parallel(function: Callable[..., Any]) -> Any:
    """Compile on the first call; a loop over ``prange`` runs on all threads."""
    return _compile(function, parallel=True)


def _compile(function: Callable[..., Any], parallel: bool) -> Any:
    options: dict[str, Any] = {"error_model": "numpy", "fastmath": _FAST, "nogil": True, "parallel": parallel}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # there is no directory to keep it in: every process compiles anew
        return numba.njit(**options)(function)


@_intrinsic
def prefetch(_context: Any, table: Any, row: Any, moment: Any, column: Any) -> Any:
    """Ask memory for the cache line of ``table[row, moment, column]``; the program goes on meanwhile."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, arguments[0])
        indices = [
            context.cast(builder, argument, kind, types.intp)
            for argument, kind in zip(arguments[1:], signature.args[1:], strict=True)
        ]
        pointer = _tools.get_item_pointer(context, builder, array_type, array, indices, wraparound=False)
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = _tools.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.bitcast(pointer, byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(table, row, moment, column), generate
