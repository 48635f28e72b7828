"""The command: options, one sandbox, all copies; over standard input and output, or HTTP."""

import io
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from agent_loop import config
from agent_loop.assemble import Benches
from agent_loop.errors import AgentLoopError, UserError
from agent_loop.mcp_server.copies import Copies
from agent_loop.mcp_server.door import Door
from agent_loop.mcp_server.options import TOKEN, TOKEN_CHARS, Options, options_of, parser
from agent_loop.mcp_server.streams import Wire
from agent_loop.mcp_server.tools import Desk, build
from agent_loop.webguard import Launch, bound, serve

PATH = "/mcp"
BODY_BYTES = 4 << 20
SESSIONS = 256
ENDED = 143
"""Exit code after a signal."""


def main(argv: Sequence[str], env: Mapping[str, str], wire: Wire) -> int:
    """Serve until the client goes; returns the exit code. Nothing but the protocol on `wire`."""
    given = parser().parse_args(argv)
    try:
        options = options_of(given)
        settings = config.load(config.base_file(Path()), env, options.sets, options.configs)
        with _serving(settings, env, options) as (desk, copies):
            if options.port is None:
                _over_pipes(build(desk), wire)
            else:
                _over_http(build(desk), copies, options.port, env)
    except AgentLoopError as error:
        say(f"error: {error}")
        return error.exit_code
    return 0


def say(line: str) -> None:
    """To the person who started the server."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


@contextmanager
def _serving(
    settings: config.Config, env: Mapping[str, str], options: Options
) -> Iterator[tuple[Desk, Copies]]:
    """Everything that has to be given back, however it ends."""
    with Benches(config=settings, notify=say, env=env) as benches:
        benches.sandbox()  # no engine: say so now, not at the first call
        copies = Copies(benches, options, say)
        desk = Desk(copies, one_client=options.port is None)
        one = threading.Lock()

        def give_back() -> None:
            # One after the other: whoever comes second finds all of it gone, not half.
            with one:
                copies.close()
                desk.close()
                benches.close()

        with _leaving(give_back):
            try:
                yield desk, copies
            finally:
                give_back()


def _over_pipes(server: "MCPServer[Any]", wire: Wire) -> None:
    async def talk() -> None:
        # UTF-8 and plain line ends, whatever the locale or the system says.
        source = io.TextIOWrapper(io.BufferedReader(_raw(wire.source)), "utf-8", "replace", "")
        target = io.TextIOWrapper(io.BufferedWriter(_raw(wire.target)), "utf-8", newline="")
        async with stdio_server(anyio.wrap_file(source), anyio.wrap_file(target)) as (read, write):
            inner = server._lowlevel_server
            await inner.run(read, write, inner.create_initialization_options())

    anyio.run(talk)


def _raw(stream: object) -> io.RawIOBase:
    if not isinstance(stream, io.RawIOBase):
        raise UserError("standard input and output are needed. Use --http PORT otherwise.")
    return stream


def _over_http(server: "MCPServer[Any]", copies: Copies, port: int, env: Mapping[str, str]) -> None:
    key = env.get(TOKEN) or secrets.token_urlsafe(32)
    if len(key) < TOKEN_CHARS:
        raise UserError(f"{TOKEN} is shorter than {TOKEN_CHARS} characters. Choose a longer key.")
    listening = bound(port)
    port = listening.getsockname()[1]
    launch = Launch(port, api_key=key)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=BODY_BYTES,
        max_sessions=SESSIONS,
        transport_security=TransportSecuritySettings(
            allowed_hosts=list(launch.hosts),
            allowed_origins=[f"http://{host}" for host in launch.hosts],
        ),
    )
    shown = "the one in the environment" if env.get(TOKEN) else key
    serve(
        Door(app, launch, copies.leave),
        listening,
        ready=lambda: say(f"http://127.0.0.1:{port}{PATH}\nkey: {shown}"),
    )


@contextmanager
def _leaving(give_back: Callable[[], None]) -> Iterator[None]:
    """Told to end while a thread waits for the client's next line: nothing can wake that thread."""

    def end() -> None:
        give_back()
        os._exit(ENDED)

    def told(_number: int, _frame: FrameType | None) -> None:
        threading.Thread(target=end).start()

    before = {number: signal.signal(number, told) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
