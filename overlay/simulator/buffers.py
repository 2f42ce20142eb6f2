"""Buffers in compiled kernels: an array of whole numbers is a pointer and a length there, and no more.

To Numba an array is seven numbers, a place from the end may be asked for, and each width of numbers makes other functions. Protocol code
needs none of that: a buffer is flat, its places count from 0, and what is read from it is a number of 64 bits. A place that is outside of
the buffer is not noticed, unless the kernel is compiled to check each of them (`compiled.CHECKED`).
"""

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import NativeValue, lower_builtin, models, register_model, unbox
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray


class BufferType(types.Type):
    """A row of whole numbers of one width. `checked`: a place that is outside of it raises IndexError."""

    def __init__(self, width: Any, *, checked: bool = False) -> None:
        self.width, self.checked = width, checked
        super().__init__(f"{'checked ' * checked}buffer.{width}")

    @property
    def key(self) -> Any:
        """What makes two of them the same type."""
        return self.width, self.checked


@register_model(BufferType)
class _BufferModel(models.StructModel):
    def __init__(self, manager: Any, buffer: BufferType) -> None:
        super().__init__(manager, buffer, [("first", types.CPointer(buffer.width)), ("length", types.intp)])


def buffer_type(value: NDArray[Any], *, checked: bool = False) -> BufferType | None:
    """Returns the type of an array in kernels, `checked` or not, or None if it is no buffer."""
    is_flat = value.ndim == 1 and value.flags.c_contiguous and value.flags.behaved
    return BufferType(from_dtype(value.dtype), checked=checked) if is_flat and value.dtype.kind in "iu" and value.dtype.isnative else None


@unbox(BufferType)
def _take_in(buffer: BufferType, value: Any, c: Any) -> NativeValue:
    kind = types.Array(buffer.width, 1, "C")
    native = c.unbox(kind, value)
    array = c.context.make_array(kind)(c.context, c.builder, native.value)
    taken = cgutils.create_struct_proxy(buffer)(c.context, c.builder)
    taken.first, taken.length = array.data, c.builder.extract_value(array.shape, 0)
    return NativeValue(taken._getvalue(), is_error=native.is_error)


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: Any, _: Any) -> Any:
        return signature(types.intp, *args) if isinstance(args[0], BufferType) else None


@infer_global(operator.getitem)
class _Read(AbstractTemplate):
    def generic(self, args: Any, _: Any) -> Any:
        buffer, at = args
        return signature(types.int64, buffer, types.intp) if isinstance(buffer, BufferType) and isinstance(at, types.Integer) else None


@infer_global(operator.setitem)
class _Written(AbstractTemplate):
    def generic(self, args: Any, _: Any) -> Any:
        buffer, at, value = args
        if not isinstance(buffer, BufferType) or not isinstance(at, types.Integer) or not isinstance(value, types.Integer | types.Boolean):
            return None
        return signature(types.none, buffer, types.intp, types.int64)


@lower_builtin(len, BufferType)
def _length(context: Any, builder: Any, signed: Any, args: Any) -> Any:
    return _proxy(context, builder, signed.args[0], args[0]).length


@lower_builtin(operator.getitem, BufferType, types.intp)
def _read(context: Any, builder: Any, signed: Any, args: Any) -> Any:
    buffer = signed.args[0]
    number = tagged(builder, builder.load(_place(context, builder, buffer, args)), "number")
    return context.cast(builder, number, buffer.width, types.int64)


@lower_builtin(operator.setitem, BufferType, types.intp, types.int64)
def _write(context: Any, builder: Any, signed: Any, args: Any) -> Any:
    buffer = signed.args[0]
    number = context.cast(builder, args[2], types.int64, buffer.width)
    tagged(builder, builder.store(number, _place(context, builder, buffer, args)), "number")
    return context.get_dummy_value()


def _proxy(context: Any, builder: Any, buffer: BufferType, value: Any) -> Any:
    return cgutils.create_struct_proxy(buffer)(context, builder, value=value)


def _place(context: Any, builder: Any, buffer: BufferType, args: Any) -> Any:
    row = _proxy(context, builder, buffer, args[0])
    if buffer.checked:
        cgutils.do_boundscheck(context, builder, args[1], row.length)
    return builder.gep(row.first, [args[1]], inbounds=True)


def tagged(builder: Any, instruction: Any, kind: str) -> Any:
    """Returns a load or a store of which LLVM is told that nothing of another `kind` lies there.

    So the places of buffers, which are parts of records, need not be read again whenever a number was written to one.
    """
    module, zero = builder.module, ir.Constant(ir.IntType(64), 0)
    root = module.add_metadata([ir.MetaDataString(module, "overlay")])
    node = module.add_metadata([ir.MetaDataString(module, kind), root, zero])
    instruction.set_metadata("tbaa", module.add_metadata([node, node, zero]))
    return instruction
