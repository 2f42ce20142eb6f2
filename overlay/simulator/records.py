"""Named tuples in compiled kernels: passed on as one pointer, where Numba by itself would pass each number of each buffer.

The state of a system has up to a hundred buffers, and an array is seven numbers to Numba. So each function that is handed the state took
hundreds of arguments: that was most of what there was to compile, and part of what each call cost.

When a kernel is called, the parts of its tuples are laid down once, in its caller's frame. Nobody changes them there, and they are gone
when it returns.
"""

from hashlib import sha256
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox

from .buffers import buffer_type, tagged


class RecordType(types.Type):
    """A class of named tuples, with the types of its parts."""

    def __init__(self, source: type, parts: tuple[Any, ...]) -> None:
        self.source, self.parts = source, parts
        # Each compiled function has the names of its arguments' types in its own, so they are short.
        told = sha256(repr([str(part) for part in parts]).encode()).hexdigest()[:12]
        super().__init__(f"{source.__module__}.{source.__qualname__}.{told}")

    @property
    def key(self) -> tuple[type, tuple[Any, ...]]:
        """What makes two of them the same type."""
        return self.source, self.parts

    def place(self, name: str) -> int | None:
        """Returns which of the parts has this name, or None if there is none."""
        fields: tuple[str, ...] = self.source._fields  # type: ignore[attr-defined]
        return fields.index(name) if name in fields else None


register_model(RecordType)(models.OpaqueModel)


class KernelDispatcher(CPUDispatcher):
    """A compiled kernel, which takes named tuples as records. Numba asks it for the types of its arguments; others' stay as they are."""

    def typeof_pyval(self, value: Any) -> Any:
        """Returns the type of an argument that is no number and no array."""
        if not hasattr(value, "_fields"):
            return super().typeof_pyval(value)
        found = type_of(value)
        # Numba lets go of types that nobody holds, while their numbers are still in use.
        self._types_active_call.add(found)  # type: ignore[attr-defined]  # C code makes it
        return found


def type_of(part: Any, *, checked: bool = False) -> Any:
    """Returns the type of a record, or of a part of one. `checked`: its buffers are."""
    if hasattr(part, "_fields"):
        return RecordType(type(part), tuple(type_of(each, checked=checked) for each in part))
    return (buffer_type(part, checked=checked) if isinstance(part, np.ndarray) else None) or typeof(part)


@infer_getattr
class _RecordAttributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record: RecordType, name: str) -> Any:  # type: ignore[override]  # NotImplemented stands there
        """Returns the type of the part of this name, or None if there is none."""
        place = record.place(name)
        return None if place is None else record.parts[place]


@lower_getattr_generic(RecordType)
def _part(context: Any, builder: Any, record: RecordType, value: Any, name: str) -> Any:
    where = builder.bitcast(value, _layout(context, record).as_pointer())
    return _load(builder, cgutils.gep_inbounds(builder, where, 0, record.place(name)))


@unbox(RecordType)
def _lay_down(record: RecordType, value: Any, c: Any) -> NativeValue:
    where = cgutils.alloca_once(c.builder, _layout(c.context, record))
    failed = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    for place, part in enumerate(record.parts):
        native = c.unbox(part, c.pyapi.tuple_getitem(value, place))
        c.builder.store(native.value, cgutils.gep_inbounds(c.builder, where, 0, place))
        with c.builder.if_then(native.is_error, likely=False):
            c.builder.store(cgutils.true_bit, failed)
    return NativeValue(c.builder.bitcast(where, cgutils.voidptr_t), is_error=c.builder.load(failed))


def _layout(context: Any, record: RecordType) -> Any:
    return ir.LiteralStructType([context.get_value_type(part) for part in record.parts])


def _load(builder: Any, where: Any) -> Any:
    """Returns what stands there, number by number: LLVM forgets those that nobody uses."""
    kind = where.type.pointee
    if not isinstance(kind, ir.Aggregate):
        return tagged(builder, builder.load(where), "record")
    loaded = ir.Constant(kind, ir.Undefined)
    for place in range(len(kind)):
        loaded = builder.insert_value(loaded, _load(builder, cgutils.gep_inbounds(builder, where, 0, place)), place)
    return loaded
