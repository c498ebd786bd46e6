// etcd under fault: one member, or three, real processes, with a proxy in front of each.

import { systemClock } from "../../../src/base/lib/index.ts";
import { openEtcdDatastore } from "../../../src/calico/datastore/index.ts";
import { kindInfo } from "../../../src/calico/kinds/index.ts";
import { type EtcdAnswer, type EtcdCommand, type EtcdMember, startEtcd } from "../etcd.ts";
import { type FaultProxy, startProxy } from "../proxy.ts";
import { type Content, type Fault, type FaultWorld, networkFaults, specText } from "./world.ts";

export async function openEtcdWorld(memberCount = 1): Promise<FaultWorld> {
  const etcd = await startEtcd({ members: memberCount });
  const proxies = await Promise.all(etcd.members.map(({ port }) => startProxy(port)));
  const datastore = await openEtcdDatastore({
    endpoints: proxies.map(({ port }) => `http://127.0.0.1:${port}`),
    pageSize: 5, // several pages, so that faults fall between them
    requestTimeoutMs: 2_000,
    watchSilenceMs: 400,
    keepaliveIntervalMs: 500,
    keepaliveTimeoutMs: 500,
  });
  const members = etcd.members.map((member) => ({ member, isUp: true }));
  const working = () => {
    const found = members.find(({ isUp }) => isUp)?.member;
    if (found === undefined) throw new Error("no member is up");
    return found;
  };
  // A write that a change of leader interrupts may or may not have happened; made again it certainly has.
  const ask: Ask = async (command) => {
    for (let tries = 0; ; tries++) {
      try {
        return await working().ask(command);
      } catch (error) {
        if (tries >= 20 || !/timed out|leader|deadline/.test(String(error))) throw error;
      }
    }
  };
  const keyOf = (kind: (typeof kinds)[number], name: string) => `${kindInfo(kind).etcdPrefix}${name}`;
  const kinds = ["Tier", "IPPool"] as const;
  const faults = [...proxies.flatMap(networkFaults), ...memberFaults({ members, proxies, ask })];
  return {
    name: memberCount === 1 ? "etcd" : `etcd-${memberCount}`,
    kinds,
    faults: memberCount === 1 ? faults : [...faults, ...clusterFaults(members)],
    datastore,
    async put(kind, name, serial) {
      const value = JSON.stringify({ metadata: { name }, spec: { serial } });
      await ask({ do: "put", key: keyOf(kind as (typeof kinds)[number], name), value });
    },
    async remove(kind, name) {
      await ask({ do: "delete", key: keyOf(kind as (typeof kinds)[number], name) });
    },
    async truth(kind) {
      const prefix = kindInfo(kind).etcdPrefix ?? "";
      const { pairs = [] } = await ask({ do: "list", key: prefix });
      const content: Content = new Map();
      for (const { key, value } of pairs) content.set(`/${key.slice(prefix.length)}`, specText(JSON.parse(value)));
      return content;
    },
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
      await etcd[Symbol.asyncDispose]();
    },
  };
}

type Members = { member: EtcdMember; isUp: boolean }[];

type Ask = (command: EtcdCommand) => Promise<EtcdAnswer>;

function memberFaults({ members, proxies, ask }: { members: Members; proxies: FaultProxy[]; ask: Ask }): Fault[] {
  const others = members.length > 1;
  return [
    {
      name: "a member is killed and starts again",
      async strike({ random, write }) {
        const victim = random.pick(members);
        await write(random.below(10));
        victim.isUp = false;
        await victim.member.kill();
        if (others) await write(random.below(10));
        await victim.member.restart();
        victim.isUp = true;
        await write(random.below(10));
      },
    },
    {
      name: "a member stands still",
      async strike({ random, write }) {
        const victim = random.pick(members);
        victim.isUp = false;
        victim.member.freeze();
        if (others) await write(random.below(10));
        await systemClock.sleep(random.below(others ? 1_500 : 300));
        victim.member.thaw();
        victim.isUp = true;
        await write(random.below(10));
      },
    },
    {
      name: "history is compacted while nothing passes",
      async strike({ random, write }) {
        for (const proxy of proxies) proxy.freeze();
        await write(5 + random.below(20));
        await ask({ do: "compact" }).catch(ignoreRepeated);
        await write(random.below(5));
        for (const proxy of proxies) proxy.cut();
        for (const proxy of proxies) proxy.thaw();
      },
    },
    {
      name: "history is compacted under an open watch and an open list",
      async strike({ random, write }) {
        const writing = write(20);
        for (const proxy of proxies) proxy.cut();
        for (let i = 0; i < 3; i++) {
          await systemClock.sleep(random.below(20));
          await ask({ do: "compact" }).catch(ignoreRepeated);
        }
        await writing;
      },
    },
  ];
}

function clusterFaults(members: Members): Fault[] {
  const leader = async () => {
    for (const each of members) if ((await each.member.ask({ do: "leader" })).leader === true) return each;
    return members[0];
  };
  return [
    {
      name: "the leader stands still, and another is chosen",
      weight: 4,
      async strike({ random, write }) {
        const victim = await leader();
        if (victim === undefined) return;
        victim.isUp = false;
        victim.member.freeze();
        await write(random.below(10)); // waits for the new leader
        victim.member.thaw();
        victim.isUp = true;
        await write(random.below(10));
      },
    },
    {
      name: "most members stand still, so there is no leader",
      weight: 4,
      async strike({ random, write }) {
        const victims = members.slice(0, 2);
        for (const { member } of victims) member.freeze();
        await systemClock.sleep(500 + random.below(1_500));
        for (const { member } of victims) member.thaw();
        await write(random.below(10));
      },
    },
  ];
}

// Nothing was written since the last compaction, or it was made after all: there is nothing to compact.
function ignoreRepeated(error: Error): void {
  if (!/required revision has been compacted/.test(error.message)) throw error;
}
