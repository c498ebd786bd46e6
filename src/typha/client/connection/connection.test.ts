import { deepEqual } from "node:assert/strict";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { clientHello as hello } from "../../../../test/kit/client-hello.ts";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { converse } from "./connection.ts";

/** A connection that never says a word, and whose writes end or do not. */
function mute(options: { takesWrites: boolean }): Duplex {
  return new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => {
      if (options.takesWrites) done();
    },
  });
}

const cases: { name: string; takesWrites: boolean; codes: string[] }[] = [
  {
    name: "a server that takes nothing for the write timeout is as good as gone",
    takesWrites: false,
    codes: ["WIRE_PEER_CLOSED"],
  },
  { name: "a server that says nothing for the read timeout is left", takesWrites: true, codes: ["WIRE_READ_TIMEOUT"] },
];
for (const { name, takesWrites, codes } of cases) {
  test(name, async () => {
    const clock = new FakeClock();
    const socket = mute({ takesWrites });
    const options = { hello, readTimeoutMs: 30_000, writeTimeoutMs: 10_000, clock };
    const seen: string[] = [];
    const listening = (async () => {
      // A Duplex is all that is used of a socket here.
      for await (const events of converse(socket as unknown as Socket, options, new AbortController().signal)) {
        for (const event of events) if (event.is === "close") seen.push(event.why.code);
      }
    })();
    await clock.advance(takesWrites ? 29_999 : 9_999);
    deepEqual(seen, []);
    await clock.advance(1);
    await listening;
    deepEqual(seen, codes);
  });
}
