"""Asking memory for a row before it is needed, from compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_tools: Any = cgutils  # has no types
_intrinsic: Callable[[Any], Any] = intrinsic


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
