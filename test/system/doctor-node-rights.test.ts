// The doctor of nodes in front of a real kube-apiserver: the rights of a node's account, whole, and too narrow as in roles of older releases.
import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openKubernetes } from "../../src/calico/datastore/index.ts";
import { crdManifest, customKinds, followRules, rulesFor } from "../../src/calico/kinds/index.ts";
import { diagnose, readCluster } from "../../src/node/diagnosis/index.ts";
import { accountConfig } from "../kit/account-config.ts";
import { type Cluster, clusterPeer, type Rule, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";

const skip = (await clusterPeer()).missing ?? false;
const group = "crd.projectcalico.org";

async function findings(kubeconfig: string) {
  await using datastore = await openKubernetes({ kubeconfig }, { clock: systemClock, log: silentLog });
  const cluster = await readCluster(datastore, { signal: AbortSignal.timeout(60_000) });
  return diagnose({ cluster, hosts: [], nowMs: systemClock.wallMs() });
}

async function accountWith(cluster: Cluster, name: string, rules: readonly Rule[]): Promise<string> {
  const kubeconfig = await accountConfig(cluster, { name, namespace: "kube-system" });
  await cluster.grant(name, { kind: "ServiceAccount", name, namespace: "kube-system" }, rules);
  return kubeconfig;
}

/** What the guide's old role has of BGPConfigurations: it may read them, and a current start-up makes one. */
function narrowed(rules: readonly Rule[]): Rule[] {
  return rules.flatMap((rule) => {
    if (!rule.resources.includes("bgpconfigurations")) return [rule];
    const others = { ...rule, resources: rule.resources.filter((each) => each !== "bgpconfigurations") };
    const verbs = rule.verbs.filter((verb) => verb !== "create");
    return [
      ...(others.resources.length === 0 ? [] : [others]),
      ...(verbs.length === 0 ? [] : [{ ...rule, resources: ["bgpconfigurations"], verbs }]),
    ];
  });
}

test("doctor node: rights that a node's account has, and the one it lacks", { skip, timeout: 600_000 }, async () => {
  await using cluster = await startCluster();
  await installCrds(
    cluster,
    customKinds.map((kind) => crdManifest(kind)),
  );
  const whole = [...followRules(group), ...rulesFor("node", group)];
  const enough = await accountWith(cluster, "enough", whole);
  const narrow = await accountWith(cluster, "narrow", narrowed(whole));
  // The API server's authoriser hears of new roles a moment later.
  let last = "";
  await eventually(
    async () => {
      last = (await findings(enough)).map(({ what }) => what).join("; ");
      return last === "";
    },
    () => `an account with all rights has no finding; last: ${last}`,
  );
  const found = await findings(narrow);
  deepEqual(
    found.map(({ code }) => code),
    ["NODE_RIGHTS_MISSING"],
  );
  match(found[0]?.what ?? "", /may not create BGPConfiguration/);
  match(found[0]?.fix ?? "", /bgpconfigurations/);
});
