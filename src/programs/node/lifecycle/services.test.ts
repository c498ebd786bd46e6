// What runs beside the daemons reaches the Kubernetes API, also where Calico's own data is elsewhere.
import { match, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../../../../test/kit/eventually.ts";
import { startFakeApi } from "../../../../test/kit/fake-api.ts";
import { silentLog, systemClock } from "../../../base/lib/index.ts";
import { createMetrics } from "../../../base/observe/index.ts";
import { createMemoryDatastore } from "../../../calico/datastore/index.ts";
import { serviceParts } from "./services.ts";

test("with a datastore that is none of Kubernetes' the end of start-up marks the Kubernetes Node", async () => {
  await using api = await startFakeApi([{ body: {} }]);
  const folder = mkdtempSync(join(tmpdir(), "cattail-services-"));
  try {
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(
      kubeconfig,
      `apiVersion: v1
kind: Config
current-context: c
contexts: [{ name: c, context: { cluster: k, user: u } }]
clusters: [{ name: k, cluster: { server: "${api.url}" } }]
users: [{ name: u, user: { token: t } }]
`,
    );
    const environment = {
      NODENAME: "n1",
      KUBECONFIG: kubeconfig,
      CALICO_SHUTDOWN_TIMESTAMP_FILE: join(folder, "when"),
      CALICO_NODENAME_FILE: join(folder, "nodename"),
    };
    const part = serviceParts(environment, { runsBird: false, log: silentLog }).find(
      ({ name }) => name === "complete-startup",
    );
    ok(part);
    const stop = new AbortController();
    const details: (string | undefined)[] = [];
    const lease = { [Symbol.dispose]: () => undefined };
    const datastore = createMemoryDatastore({ clock: systemClock });
    const running = part.run(
      {
        node: "n1",
        log: silentLog,
        clock: systemClock,
        metrics: createMetrics({ table: {}, labels: {}, clock: systemClock }),
        health: { report: ({ detail }) => void details.push(detail) },
        feed: { follow: () => lease },
        settings: { raw: () => undefined, onChange: () => lease },
        datastore: async () => datastore,
      },
      stop.signal,
    );
    await eventually(() => details.at(-1) === undefined && details.length > 0, "the end of start-up");
    match(api.asked[0] ?? "", /^PATCH \/api\/v1\/nodes\/n1\/status Bearer t$/);
    stop.abort();
    await running;
  } finally {
    rmSync(folder, { recursive: true });
  }
});
