import { equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { recordLog } from "../../../test/kit/recorded-log.ts";
import { silentLog } from "../../base/lib/index.ts";
import { createMetrics } from "../../base/observe/index.ts";
import { createMemoryDatastore } from "../../calico/datastore/index.ts";
import { openResources } from "../../calico/resources/index.ts";
import { NodeLiveSettings } from "../settings/index.ts";
import { findingCodeNames, ipamAuditMetrics, ipamAuditPart } from "./audit-part.ts";

const hour = 3_600_000;

test("off until a setting says how often; then what is found at two looks is in log and metrics", async () => {
  const clock = new FakeClock();
  const { log, lines } = recordLog();
  const datastore = createMemoryDatastore({ clock });
  const resources = openResources(datastore, { clock });
  // An affinity whose node there is not.
  await resources.create("BlockAffinity", {
    apiVersion: "projectcalico.org/v3",
    kind: "BlockAffinity",
    metadata: { name: "gone-10-0-0-0-26" },
    spec: { state: "confirmed", node: "gone", cidr: "10.0.0.0/26", type: "host", deleted: "false" },
  });
  const metrics = createMetrics({
    table: ipamAuditMetrics,
    labels: { code: findingCodeNames },
    clock,
    includesProcess: false,
    includesRuntime: false,
  });
  const settings = new NodeLiveSettings(
    { environment: {}, file: {} },
    { checks: { exists: () => true }, log: silentLog },
  );
  const stop = new AbortController();
  const reports: string[] = [];
  const running = ipamAuditPart({ random: () => 0.5 }).run(
    {
      ...{ node: "n", log, clock, metrics, settings, datastore: async () => datastore },
      health: { report: ({ detail = "" }) => void reports.push(detail) },
      feed: { follow: () => ({ [Symbol.dispose]: () => undefined }) },
    },
    stop.signal,
  );
  await clock.advance(10 * hour);
  match(await metrics.text(), /^cattail_ipam_audit_last_time_seconds 0$/m);
  match(reports.at(-1) ?? "", /^off/);

  settings.setDatastore({ cluster: { IPAMAuditInterval: "3600" } });
  const untilMs = clock.monotonicMs() + 10 * hour;
  while (clock.monotonicMs() < untilMs && !/last_time_seconds [1-9]/.test(await metrics.text()))
    await clock.advance(60_000);
  const text = await metrics.text();
  equal(reports.at(-1), "");
  match(text, /^cattail_ipam_audit_failures 0$/m);
  const found = [...text.matchAll(/^cattail_ipam_findings\{code="(\w+)"\} [1-9]/gm)].map(([, code]) => code);
  ok(found.length > 0, text);
  ok(
    lines.some(
      ({ level, fields }) => level === "warn" && fields.code === found[0] && String(fields.command).length > 0,
    ),
  );
  stop.abort();
  await running;
});
