"""Readers of tables: polars and pyarrow. Reading ends with an array in memory, ``frame`` with the package's own columns."""

from . import engine


def _polars(job, end):
    import polars

    read = {"parquet": polars.read_parquet, "csv": polars.read_csv}[job.row.data["ending"]]
    columns = job.columns()
    return lambda: end(read(job.path, columns=columns))


@engine("read", "polars", needs="polars")
def polars_array(job):
    return _polars(job, lambda frame: frame.to_numpy()), lambda array: {"array": array}


@engine("read", "polars frame", needs="polars", yardstick=True)
def polars_frame(job):
    return _polars(job, lambda frame: frame), lambda frame: {"array": frame.to_numpy()}


@engine("read", "pyarrow", needs="pyarrow")
def pyarrow_array(job):
    import numpy as np
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.set_cpu_count(job.threads)
    columns = job.columns()

    def work():
        if job.row.data["ending"] == "csv":
            options = pyarrow.csv.ConvertOptions(include_columns=columns)
            table = pyarrow.csv.read_csv(job.path, convert_options=options)
        else:
            table = pyarrow.parquet.read_table(job.path, columns=columns)
        return np.stack([column.to_numpy() for column in table.columns], axis=1)

    return work, lambda array: {"array": array}
