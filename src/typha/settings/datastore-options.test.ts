import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { kubernetesSettings } from "./datastore-options.ts";
import { readSettings } from "./typha-settings.ts";

const rates: { qps: string; expected: number | undefined }[] = [
  { qps: "0", expected: undefined },
  { qps: "0.5", expected: 0.5 },
  { qps: "20", expected: 20 },
  { qps: "-1", expected: -1 }, // no limit
];
for (const { qps, expected } of rates) {
  test(`K8S_CLIENT_QPS ${qps} reaches the datastore as ${expected ?? "its default"}`, () => {
    const { values } = readSettings({ environment: { K8S_CLIENT_QPS: qps }, checks: { exists: () => true } });
    deepEqual(kubernetesSettings(values).clientQps, expected);
  });
}
