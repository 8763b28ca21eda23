"""Ordinary code: libraries, threads, a database, an event loop, a file in and a file out. It has to work."""

import asyncio
import csv
import json
import pathlib
import sqlite3
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor

world = json.loads(pathlib.Path("in/world.json").read_text())


async def doubled(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def all_doubled() -> list[int]:
    return list(await asyncio.gather(*map(doubled, range(10))))


with ThreadPoolExecutor(4) as pool:
    squares = list(pool.map(lambda number: number * number, range(10)))
database = sqlite3.connect("numbers.db")
database.execute("create table numbers (one integer)")
database.executemany("insert into numbers values (?)", [(each,) for each in squares])
database.commit()
[(total,)] = database.execute("select sum(one) from numbers")
with tempfile.TemporaryFile() as scratch:
    scratch.write(b"x" * 1000)
with open("out/table.csv", "w", newline="") as file:
    csv.writer(file).writerows([["mean", statistics.mean(squares)], ["sum", total]])
print("DONE", total, asyncio.run(all_doubled())[-1], sorted(world)[:1])
