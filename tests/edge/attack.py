"""`python -m tests.edge.attack PORT DOWNLOAD COOKIE`: four hundred silent clients and a hundred slow ones, for ever."""

import asyncio
import sys

from tests.edge.clients import connect, head

SILENT, SLOW = 200, 50


def address(number: int) -> str:
    """One of fifty."""
    return f"127.0.9.{1 + number % 50}"


class Attack:
    """All of them at once."""

    def __init__(self, port: int, download: str, cookie: str) -> None:
        self.port, self.download, self.cookie = port, download, cookie

    async def silent(self, number: int) -> None:
        """Two bytes, and when the server hangs up, again."""
        await self.forever(number, b"GE")

    async def half_a_body(self, number: int) -> None:
        await self.forever(number, head("POST", "/login/", 2000) + b"x" * 1000)

    async def forever(self, number: int, said: bytes) -> None:
        while True:
            line = await connect(self.port, address(number))
            try:
                await line.say(said)
                await line.hear(600)
            finally:
                line.close()

    async def upload(self, number: int) -> None:
        """Two thousand bytes a second, of ten million."""
        line = await connect(self.port, address(number))
        await line.say(head("POST", "/datasets/import/", 10_000_000, Cookie=self.cookie))
        while True:
            await line.say(b"x" * 2000)
            await asyncio.sleep(1)

    async def fetch(self, number: int) -> None:
        """Eight thousand bytes a second."""
        line = await connect(self.port, address(number), buffer=8192)
        await line.say(head("GET", self.download, Cookie=self.cookie))
        while await line.reader.read(8192):
            await asyncio.sleep(1)

    async def run(self) -> None:
        kinds = [(self.silent, SILENT), (self.half_a_body, SILENT), (self.upload, SLOW), (self.fetch, SLOW)]
        tasks = []
        for one, count in kinds:
            for number in range(count):
                tasks.append(asyncio.ensure_future(one(number)))
                await asyncio.sleep(0.002)
        await asyncio.sleep(2)
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(Attack(int(sys.argv[1]), sys.argv[2], sys.argv[3]).run())
