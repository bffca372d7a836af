"""Figures in the text formats of Prometheus and OpenMetrics."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from claw_acp.core.version import VERSION
from claw_acp.telemetry.metrics import Metrics

_PREFIX: Final = "claw_acp_"


def figures_text(metrics: Metrics, accept: str) -> tuple[bytes, str]:
    """All figures in the format that a client accepts, and its content type."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(metrics))
    try:
        encode, kind = choose_encoder(accept)
    except (TypeError, ValueError):  # a version that is none
        encode, kind = choose_encoder("")
    return encode(registry), kind


class _Figures(Collector):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """See `Collector`."""
        version = GaugeMetricFamily(f"{_PREFIX}info", "The version.", labels=("version",))
        version.add_metric([VERSION], 1)
        yield version
        for name, gauge in self._metrics.gauges.items():
            yield GaugeMetricFamily(_PREFIX + name, gauge.about, value=gauge.value())
        for name, counter in self._metrics.counters.items():
            family = CounterMetricFamily(_PREFIX + name, counter.about, labels=counter.labels)
            for labels, value in tuple(counter.values.items()):
                family.add_metric(labels, value)
            yield family
        for name, histogram in self._metrics.histograms.items():
            totals = accumulate(histogram.counts)
            bounds = [*map(str, map(float, histogram.bounds)), "+Inf"]
            buckets = list(zip(bounds, map(float, totals), strict=True))
            yield HistogramMetricFamily(_PREFIX + name, histogram.about, buckets=buckets, sum_value=histogram.sum)
