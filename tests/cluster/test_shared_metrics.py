"""`/metrics` of any worker answers for all workers of its machine."""

import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families

from parlour.server import metrics
from parlour.server.settings import Settings
from parlour.server.shared_metrics import PATIENCE
from parlour.server.supervisor import options_of_each


def connections(text):
    """The open sockets, by worker, as a text has them."""
    families = {family.name: family for family in text_string_to_metric_families(text.decode())}
    return {s.labels["worker"]: s.value for s in families["parlour_connections"].samples}


def silent(text):
    """How many workers are missing in a text."""
    (line,) = [line for line in text.decode().splitlines() if line.startswith("parlour_workers_silent")]
    return int(line.split()[1])


@pytest.fixture
def scraped(workers):
    """Asks a worker, and lets time pass until it has answered; each has as many sockets as its number."""
    for me, worker in workers.workers.items():
        about = "# HELP parlour_connections Open sockets\n# TYPE parlour_connections gauge\n"
        line = f'{about}parlour_connections{{protocol="phoenix"}} {me}\n'
        worker.metrics.own = line.encode

    async def scrape(at):
        answer = asyncio.ensure_future(workers.worlds[at].server.metrics())
        await workers.quiet()
        await workers.wait(PATIENCE)
        await workers.quiet()
        assert answer.done()
        return answer.result()

    return scrape


@pytest.mark.parametrize("at", [1, 2, 3])
async def test_any_worker_answers_for_all_of_its_machine(scraped, at):
    text = await scraped(at)
    assert connections(text) == {"1": 1, "2": 2, "3": 3}
    assert silent(text) == 0


async def test_workers_of_other_machines_are_not_asked(workers, scraped):
    workers.table.members[3].address = "there:1"
    assert connections(await scraped(1)) == {"1": 1, "2": 2}
    assert connections(await scraped(3)) == {"3": 3}


async def test_a_worker_that_does_not_answer_is_left_out_and_counted(workers, scraped):
    workers.hub.separate(1, 2)
    text = await scraped(1)
    assert connections(text) == {"1": 1, "3": 3}
    assert silent(text) == 1


async def test_an_answer_that_comes_too_late_harms_nobody(workers, scraped):
    workers.hub.separate(1, 2)
    await scraped(1)
    workers.hub.reunite(1, 2)
    await workers.wait(10)
    assert connections(await scraped(1)) == {"1": 1, "2": 2, "3": 3}


def test_every_metric_keeps_its_name_its_kind_and_its_numbers():
    metrics.lines_cut.labels("too_fast").inc(0)
    metrics.write_time.observe(0.003)
    own = metrics.text().decode()
    before = {family.name: family for family in text_string_to_metric_families(own)}
    merged = metrics.merged({7: own, 8: own}, 0).decode()
    after = {family.name: family for family in text_string_to_metric_families(merged)}
    assert set(after) == {*before, "parlour_workers_silent"}
    for name, family in before.items():
        assert (after[name].type, after[name].documentation) == (family.type, family.documentation)
        for worker in ("7", "8"):
            wanted = {
                (s.name, *sorted({**s.labels, "worker": worker}.items())): s.value for s in family.samples
            }
            got = {(s.name, *sorted(s.labels.items())): s.value for s in after[name].samples}
            assert wanted.items() <= got.items()
    types = [line for line in merged.splitlines() if line.startswith("# TYPE")]
    assert len(types) == len(set(types))


@pytest.mark.parametrize(("bots", "workers", "each"), [(8, 4, 2), (2, 4, 1), (5, 2, 2), (3, 1, 3)])
def test_workers_share_the_processes_for_bots_and_each_has_one_at_least(bots, workers, each):
    options = options_of_each(Settings(bot_workers=bots, workers=workers), 8000)
    assert options[options.index("--bot-workers") + 1] == str(each)
