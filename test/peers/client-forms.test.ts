// The same data in every form our server can send it: compressed either way or not at all, and with the policy keys of
// clients up to v3.31.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { FollowOptions } from "../../src/typha/client/index.ts";
import { Followed } from "../kit/followed.ts";
import { manyKeys, serve } from "../kit/serving.ts";

const forms: { name: string; options: Partial<FollowOptions> }[] = [
  { name: "snappy", options: {} },
  { name: "zstd", options: { compression: ["zstd"] } },
  { name: "zstd before snappy", options: { compression: ["zstd", "snappy"] } },
  { name: "plain", options: { compression: [] } },
];
for (const { name, options } of forms) {
  test(`our server is followed: ${name}`, async () => {
    const keys = manyKeys(3000, (index) => `value ${index} ${"é".repeat(index % 200)}`);
    await using server = await serve({ compressions: ["zstd", "snappy"] });
    server.set(keys);
    server.status(2);
    await using client = new Followed({ servers: `127.0.0.1:${server.address.port}`, ...options });
    await client.inSync();
    deepEqual(Object.fromEntries(client.state), keys);
    server.set({ "/calico/v1/config/later": "x" });
    await client.until(() => client.state.get("/calico/v1/config/later") === "x", "the change");
  });
}

test("our server is followed: with the policy keys of old", async () => {
  const path = "/calico/v1/policy/GlobalNetworkPolicy//deny";
  const legacyPath = "/calico/v1/policy/tier/default/policy/deny";
  await using server = await serve({
    legacyForm: (update) => (update.path === path ? { ...update, path: legacyPath } : update),
  });
  server.set({ [path]: '{"tier":"default","selector":"all()"}' });
  server.status(2);
  const servers = `127.0.0.1:${server.address.port}`;
  await using modern = new Followed({ servers });
  await using legacy = new Followed({ servers, policyKeys: "legacy" });
  await modern.inSync();
  await legacy.inSync();
  deepEqual([...modern.state.keys()], [path]);
  deepEqual([...legacy.state.keys()], [legacyPath]);
});
