"""MLlib's BucketedRandomProjectionLSH on a local Spark: vectors in, pairs within a distance out.

A table of MLlib's cuts one random line into buckets of equal length, and a pair is compared if it shares a
bucket in any table: one row a band, in our words. For every number of tables there is a length that finds a
pair exactly at the threshold as often as promised (`settings`); which number is fastest, a sweep must say.

What is done in MLlib's favour: vectors lie in Spark's memory and the model is made before the clock starts,
mirrored pairs are dropped where Spark can push that into its join, only row numbers are collected, and as
Arrow. Spark's own settings are its defaults, but for memory and for the 200 parts of a shuffle, of which two
cores need fewer. It needs the extra `spark`, and Java 17.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.theory.collisions import GaussianCollision

from .near_judge import Pairs

MEMORY = "8g"
_SEED = 3
# Eight parts a core, so that neither core waits long for the other.
_PARTS = 16


@dataclass(frozen=True, kw_only=True)
class Settings:
    """MLlib's two: numHashTables and bucketLength."""

    tables: int
    length: float


def settings(threshold: float, *, tables: int, dimensions: int, recall: float) -> Settings:
    """The shortest buckets with which so many tables find a pair at the threshold as often as promised.

    Along a random direction of length 1 a difference is as long as one along a Gaussian vector divided by
    the root of the dimensions, up to what 128 dimensions make negligible.
    """
    alone = 1 - (1 - recall) ** (1 / tables)
    projected = threshold / dimensions**0.5
    short, long = 0.0, projected
    while GaussianCollision(width=long).probability(projected) < alone:
        short, long = long, 2 * long
    while long - short > 1e-9 * long:
        middle = (short + long) / 2
        enough = GaussianCollision(width=middle).probability(projected) >= alone
        short, long = (short, middle) if enough else (middle, long)
    return Settings(tables=tables, length=long)


def missing() -> str | None:
    """What of the peer is not here, and where it comes from; None if it can run."""
    try:
        import pyspark.ml.feature  # noqa: F401
    except ImportError:
        return "pyspark is not installed: it comes with the extra spark (pip install 'lookalike[spark]')"
    java = Path(environ["JAVA_HOME"]) / "bin" / "java" if "JAVA_HOME" in environ else "java"
    if shutil.which(java) is None:
        return (
            "Spark needs Java 17 or newer: install it (Debian, Ubuntu: apt install openjdk-17-jre-headless)"
        )
    return None


@contextmanager
def session(threads: int = 2) -> Iterator[Spark]:
    """Start Spark in this process and a Java machine beside it, and stop it."""
    from pyspark.sql import SparkSession

    environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with TemporaryDirectory(prefix="spark-") as folder:
        options = {
            "spark.driver.memory": MEMORY,
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
            "spark.sql.shuffle.partitions": str(_PARTS),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        spark = SparkSession.builder.master(f"local[{threads}]").config(map=options).getOrCreate()
        try:
            yield Spark(session=spark, folder=Path(folder))
        finally:
            spark.stop()


@dataclass(frozen=True, kw_only=True, eq=False)
class Spark:
    """A session, and a folder for what it reads."""

    session: Any
    folder: Path

    def cached(self, vectors: npt.NDArray[np.float32], name: str) -> Cached:
        """Bring vectors into Spark's memory."""
        from pyspark.ml.functions import array_to_vector
        from pyspark.sql.functions import col

        file = self.folder / f"{name}.parquet"
        starts = np.arange(0, vectors.size + 1, vectors.shape[1], dtype=np.int32)
        lists = pa.ListArray.from_arrays(pa.array(starts), pa.array(vectors.reshape(-1)))
        pq.write_table(pa.table({"row": np.arange(len(vectors)), "vector": lists}), file)
        frame = self.session.read.parquet(str(file)).repartition(_PARTS)
        vector = array_to_vector(col("vector").cast("array<double>")).alias("vector")
        frame = frame.select("row", vector).cache()
        frame.count()
        return Cached(frame=frame)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cached:
    """Vectors in Spark's memory, with their rows."""

    frame: Any

    def model(self, chosen: Settings) -> Any:
        """MLlib's hash functions with these settings."""
        from pyspark.ml.feature import BucketedRandomProjectionLSH

        return BucketedRandomProjectionLSH(
            inputCol="vector",
            outputCol="buckets",
            numHashTables=chosen.tables,
            bucketLength=chosen.length,
            seed=_SEED,
        ).fit(self.frame)

    def join(self, model: Any, threshold: float) -> Pairs:
        """Find the pairs within a distance, the lower row first."""
        near = model.approxSimilarityJoin(self.frame, self.frame, threshold, distCol="distance")
        near = near.filter("datasetA.row < datasetB.row")
        found = near.selectExpr("datasetA.row AS a", "datasetB.row AS b").toArrow()
        return found["a"].to_numpy(), found["b"].to_numpy()

    def compared(self, model: Any) -> int:
        """Count how many pairs of rows meet in a bucket, once for every table in which they do."""
        from pyspark.sql.functions import posexplode

        entries = model.transform(self.frame).select(posexplode("buckets").alias("table", "bucket"))
        sizes = entries.groupBy("table", "bucket").count()
        (total,) = sizes.selectExpr("sum(count * (count - 1) / 2)").first()
        return int(total)
