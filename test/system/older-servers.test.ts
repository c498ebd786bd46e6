// Servers up to v3.31 say policies under older keys. Nodes, and explain, that meet one during an upgrade still know every policy: without
// them every pod would be open.
import { deepEqual, match } from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type KvUpdate, updateType } from "../../src/calico/model/index.ts";
import { typhaSource } from "../../src/node/agent/feed/typha-source.ts";
import { startTyphaStub } from "../kit/typha-stub.ts";

const said = (path: string, value: string | undefined): KvUpdate => ({
  path,
  value,
  revision: "1",
  v3ResourceVersion: "",
  type: value === undefined ? updateType.deleted : updateType.new,
});
const olderKey = "/calico/v1/policy/tier/default/policy/shop%2fknp.default.web";
const olderValue =
  '{"namespace":"shop","order":1000,"selector":"all()","types":["ingress"],"inbound_rules":[{"action":"deny"}]}';

test("the policies of an older server reach a node under their present keys, and go again", async () => {
  const data = { snapshot: [said(olderKey, olderValue)], changes: [said(olderKey, undefined)] };
  await using stub = await startTyphaStub({ data: () => data });
  const stop = new AbortController();
  const servers = `127.0.0.1:${stub.port}`;
  const source = typhaSource({
    ...{ set: "felix", node: "here", version: "1", clock: systemClock, random: Math.random, log: silentLog },
    follow: { servers },
  });
  const heard: string[] = [];
  for await (const { events } of source.open(stop.signal, new Set(["felix" as const]))) {
    for (const event of events)
      if (event.is === "set" || event.is === "delete")
        heard.push(`${event.is} ${event.path} ${event.is === "set" ? JSON.parse(event.value).tier : ""}`.trim());
    if (heard.length === 2) break;
  }
  stop.abort();
  deepEqual(heard, [
    "set /calico/v1/policy/KubernetesNetworkPolicy/shop/web default",
    "delete /calico/v1/policy/KubernetesNetworkPolicy/shop/web",
  ]);
});

test("explain knows the policies of an older server", async () => {
  const pod = JSON.stringify({ state: "active", name: "cali1", ipv4_nets: ["10.0.0.1/32"], profile_ids: ["kns.shop"] });
  const snapshot = [
    said("/calico/v1/host/n/workload/k8s/shop%2fa/endpoint/eth0", pod),
    said("/calico/v1/policy/profile/kns.shop/rules", '{"inbound_rules":[{"action":"allow"}]}'),
    said("/calico/v1/policy/tier/default/metadata", '{"order":1000000}'),
    said(olderKey, olderValue),
  ];
  await using stub = await startTyphaStub({ data: () => ({ snapshot, changes: [] }) });
  const words = ["explain", "192.0.2.1", "shop/a", "--server", `127.0.0.1:${stub.port}`, "--plaintext"];
  const { stdout } = await promisify(execFile)(process.execPath, ["src/programs/main/main.ts", ...words]);
  match(stdout, /DENIED/);
  match(stdout, /NetworkPolicy \(Kubernetes\) shop\/web: ingress rule 1/);
});
