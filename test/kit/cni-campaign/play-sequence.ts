// Plays one sequence on a node, as a runtime and a kubelet would go through it, and then does what both owe in the end: every sandbox that ever was is
// deleted until that succeeds. What is left after that is a leak.
import { deleteNamespace } from "../../../src/base/linux/kernel.ts";
import type { Cluster } from "../cluster.ts";
import { freshNamespace } from "../namespace.ts";
import type { Random } from "../random.ts";
import { leftOvers, missingOf } from "./audit.ts";
import type { Answered, CampaignNode, Sandbox } from "./campaign-node.ts";
import { chooseStep, type Mishap, type Step } from "./choices.ts";

export type Sequence = {
  readonly cluster: Cluster;
  readonly node: CampaignNode;
  readonly random: Random;
  /** Of its pods and containers: nobody else's begin so. */
  readonly prefix: string;
};

export type PlayedSequence = {
  readonly added: number;
  readonly failed: number;
  readonly deleted: number;
  /** What was done, for people. */
  readonly story: readonly string[];
  /** What is wrong. */
  readonly findings: readonly string[];
};

type Live = { readonly netnsName: string; isGone: boolean; isAdded: boolean; readonly sandbox: Sandbox };

const mostTries = 6;

export async function playSequence({ cluster, node, random, prefix }: Sequence): Promise<PlayedSequence> {
  const story: string[] = [];
  const findings: string[] = [];
  const pods = new Set<string>();
  const sandboxes: Live[] = [];
  let [added, failed, deleted] = [0, 0, 0];

  async function makePod(name: string): Promise<void> {
    if (pods.has(name)) return;
    pods.add(name);
    await cluster.must("POST", "/api/v1/namespaces/default/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec: { nodeName: node.name, containers: [{ name: "c", image: "none" }], terminationGracePeriodSeconds: 0 },
    });
  }
  async function removePod(name: string): Promise<void> {
    pods.delete(name);
    await cluster.ask("DELETE", `/api/v1/namespaces/default/pods/${name}`, { gracePeriodSeconds: 0 });
  }
  function newSandbox(pod: string): Live {
    const { name, path } = freshNamespace();
    const sandbox = { container: `${prefix}-c${sandboxes.length}`, netns: path, pod };
    const live = { netnsName: name, isGone: false, isAdded: false, sandbox };
    sandboxes.push(live);
    return live;
  }
  const current = (pod: string) => sandboxes.findLast(({ sandbox }) => sandbox.pod === pod) ?? newSandbox(pod);

  async function add(live: Live, mishap: Mishap, isAlone = true): Promise<void> {
    if (live.isGone) return;
    const answered = await node.call({ command: "ADD", sandbox: live.sandbox }, mishap);
    story.push(`ADD ${live.sandbox.container}${words(mishap)}: ${outcomeOf(answered)}`);
    if (answered.code !== 0) {
      failed += 1;
      if (answered.code !== null && typeof answered.said.msg !== "string")
        findings.push(`no error in words: ${answered.text}`);
      // Nobody else is on this node: what was taken away was taken by one of our own.
      if (/did not stay as it was made|disappeared while/.test(answered.text) && isAlone) findings.push(answered.text);
      return;
    }
    added += 1;
    live.isAdded = isAlone;
    if (!isAlone) return; // DEL may have come after it
    const wrong = await missingOf(node.namespace.name, hostSideIn(answered), addressesIn(answered));
    if (wrong !== undefined) findings.push(wrong);
  }
  async function del(live: Live, mishap: Mishap, netns?: string): Promise<Answered> {
    const called = { command: "DEL", sandbox: live.sandbox, ...(netns === undefined ? {} : { netns }) } as const;
    const answered = await node.call(called, mishap);
    story.push(
      `DEL ${live.sandbox.container}${netns === "" ? " without a namespace" : ""}${words(mishap)}: ${outcomeOf(answered)}`,
    );
    if (answered.code === 0) {
      deleted += 1;
      live.isAdded = false;
    }
    return answered;
  }

  async function play(step: Step): Promise<void> {
    const pod = `${prefix}-p${random.below(2)}`;
    if (step.do !== "pod goes") await makePod(pod);
    const live = current(pod);
    switch (step.do) {
      case "add":
        return await add(live, step.mishap);
      case "del":
        return void (await del(live, step.mishap));
      case "del without a namespace":
        return void (await del(live, step.mishap, ""));
      case "del of an old sandbox":
        return void (await del(random.pick(sandboxes), step.mishap));
      case "add and del": {
        const adding = add(live, step.mishap, false);
        await del(live, { is: "none" });
        return await adding;
      }
      case "check":
        if (live.isAdded && !live.isGone)
          story.push(`CHECK: ${outcomeOf(await node.call({ command: "CHECK", sandbox: live.sandbox }))}`);
        return;
      case "new sandbox":
        newSandbox(pod);
        break;
      case "namespace goes":
        deleteNamespace(live.netnsName);
        live.isGone = true;
        break;
      case "pod goes":
        await removePod(pod);
        break;
      case "pod is replaced":
        await removePod(pod);
        await makePod(pod);
        break;
      case "agent restarts":
        await node.stopAgent(random.pick(["SIGTERM", "SIGKILL"]));
        await node.startAgent();
        break;
    }
    story.push(`${step.do} (${pod})`);
  }

  async function end(): Promise<void> {
    for (const live of [...sandboxes].sort(() => random.next() - 0.5)) {
      if (!live.isGone && random.isOneIn(4)) {
        deleteNamespace(live.netnsName);
        live.isGone = true;
      }
      let last: Answered | undefined;
      for (let attempt = 0; attempt < mostTries && last?.code !== 0; attempt += 1)
        last = await del(live, { is: "none" });
      if (last?.code !== 0) findings.push(`DEL of ${live.sandbox.container} never succeeds: ${last?.text}`);
    }
  }

  try {
    const length = 4 + random.below(7);
    for (let at = 0; at < length; at += 1) {
      if (!node.hasAgent && random.isOneIn(2)) await node.startAgent();
      await play(chooseStep(random));
    }
    await end();
    findings.push(
      ...(await settled(() => leftOvers(cluster, { node: node.name, namespace: node.namespace.name, prefix }))),
    );
  } finally {
    for (const { netnsName } of sandboxes) deleteNamespace(netnsName);
    for (const pod of [...pods]) await removePod(pod);
  }
  return { added, failed, deleted, story, findings };
}

/** The kernel takes a namespace's interfaces down in its own time, a few milliseconds after the name is gone. */
async function settled(look: () => Promise<string[]>): Promise<string[]> {
  const endMs = performance.now() + 3_000;
  for (;;) {
    const found = await look();
    const isKernels = found.every((each) => each.startsWith("interface") || each.startsWith("route"));
    if (found.length === 0 || !isKernels || performance.now() > endMs) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
}

function hostSideIn({ said }: Answered): string {
  return ((said.interfaces ?? []) as { name: string }[])[0]?.name ?? "";
}

function addressesIn({ said }: Answered): string[] {
  return ((said.ips ?? []) as { address: string }[]).map(({ address }) => address.replace(/\/\d+$/, ""));
}

function outcomeOf({ code, said }: Answered): string {
  if (code === null) return "killed";
  return code === 0 ? "done" : String(said.msg ?? "failed").slice(0, 160);
}

function words(mishap: Mishap): string {
  if (mishap.is === "none") return "";
  if (mishap.is === "api") return ` with ${mishap.how} at request ${mishap.nth}`;
  const { when, whom } = mishap;
  return ` with ${whom} killed ${when.at === "time" ? `after ${Math.round(when.share * 100)} %` : `${when.side} request ${when.nth}`}`;
}
