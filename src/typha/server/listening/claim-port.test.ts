import { rejects } from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { freePort } from "../../../../test/kit/free-port.ts";
import { claimPort } from "./claim-port.ts";

test("a port that another server shares is not ours to share", async () => {
  const other = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => other.listen({ port, host: "127.0.0.1", reusePort: true }, () => resolve()));
  await rejects(claimPort({ host: "127.0.0.1", port }), { code: "SERVER_LISTEN" });
  await new Promise((resolve) => other.close(resolve));
  await claimPort({ host: "127.0.0.1", port });
});
