"""The tables of `infra.kernel.trace` as Arrow and Spark schemas."""

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from infra.kernel.trace import TABLES, Table

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_ARROW: Final = {"int64": pa.int64(), "string": pa.string()}


def arrow_schema(table: Table) -> pa.Schema:
    """Returns the columns in order, with their types and whether they may be null."""
    return pa.schema([pa.field(column.name, _ARROW[column.type], nullable=column.may_be_null) for column in table.columns])


SCHEMAS: Final = {name: arrow_schema(table) for name, table in TABLES.items()}


def spark_schema(table: Table) -> "StructType":
    """Returns the columns as `arrow_schema` does, for Spark."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    types = {"int64": LongType, "string": StringType}
    return StructType([StructField(column.name, types[column.type](), column.may_be_null) for column in table.columns])
