"""The metrics server for Prometheus, on an address apart from that of visitors."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from prometheus_client import REGISTRY, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from corpus.errors import CorpusError
from corpus.settings import read_settings
from explorer.app.resources import open_library
from explorer.jobs.runner import jobs_under_way

logger = logging.getLogger(__name__)


class _AtThisMoment(Collector):
    """Metrics computed on each request: running jobs, and the published corpus."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        jobs = GaugeMetricFamily("paper_trail_jobs", "Work that is not over", labels=["kind", "state"])
        for (kind, state), number in Counter(
            (job.kind, job.view().state) for job in jobs_under_way()
        ).items():
            jobs.add_metric([kind, state], number)
        yield jobs
        try:
            corpus = open_library().corpus
            papers, versions = corpus.count_papers(), corpus.manifest.versions
        except CorpusError:
            return
        yield GaugeMetricFamily("paper_trail_corpus_papers", "Papers of the corpus", papers)
        published = GaugeMetricFamily("paper_trail_corpus_version", "Version of a table", labels=["table"])
        for table, version in versions.items():
            published.add_metric([table], version)
        yield published


@contextmanager
def serving_metrics() -> Iterator[None]:
    """Serve the metrics of this process at the address of the settings, if there is one."""
    try:
        place = read_settings().metrics
    except CorpusError:  # Every screen reports it.
        place = ""
    if not place:
        yield
        return
    host, _, port = place.rpartition(":")
    collector = _AtThisMoment()
    REGISTRY.register(collector)
    try:
        server, thread = start_http_server(int(port), host.strip("[]"))
    except OSError as error:
        REGISTRY.unregister(collector)
        logger.error("Metrics cannot be served at %s: %s.", place, error.strerror)
        yield
        return
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        REGISTRY.unregister(collector)
