"""A memory in a program that runs on asyncio: all of its work in one thread of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

import tms

T = TypeVar("T")
TASKS = 40


def test_many_tasks_share_one_memory_through_its_thread(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    async def main() -> list[tms.Report]:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(max_workers=1) as thread:

            async def run(work: Callable[[], T]) -> T:
                return await loop.run_in_executor(thread, work)

            memory = await run(lambda: tms.open(path))

            def declare(number: int) -> tms.Report:
                with memory.batch() as batch:
                    memory.source(f"Feed:{number}")
                    memory.justify(f"Flag:{number}", f"Feed:{number}")
                return batch.report

            async def task(number: int) -> tms.Report:
                await run(lambda: declare(number))
                assert await run(lambda: memory.believes(f"Flag:{number}"))
                report = await run(lambda: memory.retract(f"Feed:{number}"))
                assert not await run(lambda: memory.believes(f"Flag:{number}"))
                return report

            reports = await asyncio.gather(*(task(number) for number in range(TASKS)))
            with pytest.raises(tms.Misuse, match="thread"):
                memory.believes("Flag:1")  # from the thread of the loop
            await run(memory.close)
            return reports

    reports = asyncio.run(main())
    assert [report.died for report in reports] == [(f"Flag:{n}",) for n in range(TASKS)]
    with tms.open(path) as memory:
        assert sum(1 for _ in memory.log()) == 2 * TASKS
        assert memory.stats().believed == 0
        assert memory.verify(revisions=None)


def test_the_loop_goes_on_while_its_memory_waits_for_another_writer(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    async def main(other: tms.Memory) -> int:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(max_workers=1) as thread:
            memory = await loop.run_in_executor(thread, lambda: tms.open(path, timeout=60))
            turns = 0
            with other.batch():
                other.source("Feed:1")
                waiting = loop.run_in_executor(thread, memory.source, "Feed:2")
                while turns < 50:
                    await asyncio.sleep(0.001)
                    turns += 1
                assert not waiting.done()
            await waiting
            await loop.run_in_executor(thread, memory.close)
        return turns

    with tms.open(path) as other:
        assert asyncio.run(main(other)) == 50
        assert [node.ref for node in other.scan().items] == ["Feed:1", "Feed:2"]
        assert other.verify(revisions=None)


def test_a_task_that_is_cancelled_leaves_a_whole_commit_or_none(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    async def main() -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(max_workers=1) as thread:
            memory = await loop.run_in_executor(thread, tms.open, path)

            def declare() -> None:
                with memory.batch():
                    memory.source("Feed:1")
                    memory.justify([f"Flag:{n}" for n in range(2000)], "Feed:1")

            with pytest.raises(TimeoutError):  # the thread goes on with what it has begun
                await asyncio.wait_for(loop.run_in_executor(thread, declare), timeout=0.001)
            await loop.run_in_executor(thread, memory.source, "Feed:2")
            await loop.run_in_executor(thread, memory.close)

    asyncio.run(main())
    with tms.open(path) as memory:
        assert memory.believes("Feed:2")
        assert memory.stats().believed in (0, 2000)
        assert memory.verify(revisions=None)
