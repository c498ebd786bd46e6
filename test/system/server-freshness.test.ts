// Servers ask each other over TLS whether they hear from their datastore, on the main thread and on workers. Nobody else
// notices: the question is no refusal, and clients are served however it is answered.
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/lib/index.ts";
import { probeServer } from "../../src/typha/server/peers/probe-server.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { eventually } from "../kit/eventually.ts";
import { GoClients, serve, withoutGoClient } from "../kit/serving.ts";

for (const workers of [0, 2]) {
  test(`a server that is cut off tells its peers, and nobody else (${workers} workers)`, {
    skip: withoutGoClient,
  }, async () => {
    const authority = testAuthority();
    using folder = certificateFolder(authority);
    await using server = await serve({ workers, tls: authority.serverTls() });
    server.status(2);
    const target = { host: "127.0.0.1", port: server.address.port, isTls: true };
    const ask = (mustBeFresh: boolean) =>
      probeServer({ ...target, mustBeFresh }, { timeoutMs: 60_000, clock: systemClock });
    const { caFile, certFile, keyFile } = folder.client;
    const flags = ["--ca", caFile, "--cert", certFile, "--key", keyFile, "--until-in-sync"];

    deepEqual([await ask(false), await ask(true)], [undefined, undefined]);
    server.setFreshness(false);
    // Each worker hears of it by itself, and the kernel chooses which of them answers.
    let refusals = 0;
    await eventually(async () => {
      const problem = await ask(true);
      refusals = problem === undefined ? 0 : refusals + 1;
      return refusals === 10;
    }, "every thread refuses the question");
    match((await ask(true)) ?? "", /no application protocol/i);
    equal(await ask(false), undefined);
    await using client = new GoClients(server, flags);
    equal(await client.exited, 0, client.stderr);

    server.setFreshness(true);
    await eventually(async () => (await ask(true)) === undefined, "it is welcome again");
    deepEqual(
      server.lines.filter(({ message }) => message === "Refused connection"),
      [],
    );
  });
}
