// Verdicts against what the kernel did: every flow of every recorded policy case, and of small clusters that packets were sent through, asked
// of calico/policy.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { judge, nodeSettings, worldOf } from "../../src/calico/policy/index.ts";
import { smallClusters, worldWith } from "../kit/policy/small-clusters.ts";
import { PolicyWorld, policyCases } from "../kit/policy-world.ts";

/** Flows whose outcome is not policy's, with what decides it. */
const leftOut: { readonly [name: string]: RegExp } = {
  // Another table of the kernel makes a pod's port of it, which no object says.
  "hep-prednat": /tcp:30080/,
};

for (const { name, about, steps, expect, env = {} } of policyCases())
  test(`${name}: ${about}`, () => {
    const world = new PolicyWorld();
    for (const [index, step] of steps.entries()) {
      for (const operation of step.do) world.do(operation);
      const flows = expect[index]?.flows ?? {};
      const said: { [flow: string]: unknown } = {};
      const wanted: { [flow: string]: unknown } = {};
      const settings = { ...env, DefaultEndpointToHostAction: env.FELIX_DEFAULTENDPOINTTOHOSTACTION ?? "Accept" };
      const settingOf = (setting: string) =>
        Object.entries(settings).find(
          ([key]) => key.replace(/^FELIX_/, "").toLowerCase() === setting.toLowerCase(),
        )?.[1] ?? world.data.setting("node-a", setting);
      const judged = worldOf(world.data, {
        isEnforcedOn: (node) => node === "node-a",
        settingsOf: () => nodeSettings(settingOf),
      });
      for (const [text, outcome] of Object.entries(flows)) {
        const flow = world.flow(text);
        if ("left" in flow || leftOut[name]?.test(text)) continue;
        said[text] = judge(flow, judged).verdict;
        const verdict = String(outcome).split(" ")[0];
        wanted[text] = verdict === "reject" ? "deny" : verdict;
      }
      deepEqual(said, wanted, `step ${index + 1}: ${step.about ?? ""}`);
    }
  });

for (const cluster of smallClusters)
  test(cluster.about, () => {
    const { world } = worldWith(cluster);
    const judged = worldOf(world.data, { isEnforcedOn: (node) => node === "node-a" });
    const said = Object.keys(cluster.flows).map((text) => {
      const flow = world.flow(text);
      return [text, "left" in flow ? flow.left : judge(flow, judged).verdict];
    });
    deepEqual(Object.fromEntries(said), cluster.flows);
  });
