// Packet rules by nft's library in this process, in namespaces of the test's own: what it does, nft shows, and the other way round.
import { deepEqual, equal, match, throws } from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { type NftContext, nftTables, openNftables } from "../kernel.ts";

const hasLibrary = (() => {
  try {
    openNftables()[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
})();
const hasNft = spawnSync("nft", ["--version"]).status === 0;
const skip = noNamespaces || (hasNft && hasLibrary ? false : "needs nft and libnftables.so.1");

const nft = (namespace: string, ...words: string[]) =>
  execFileSync("ip", ["netns", "exec", namespace, "nft", ...words], { encoding: "utf8" });

test("a transaction is taken or refused as a whole, in its own namespace", { skip }, () => {
  const [one, two] = [freshNamespace(), freshNamespace()];
  using context = openNftables({ namespace: one.path });
  equal(context.run("add table inet a\nadd chain inet a c\nadd rule inet a c counter drop\n"), undefined);
  match(nft(one.name, "list", "table", "inet", "a"), /chain c \{\s+counter packets 0 bytes 0 drop/);
  match(context.run("add table inet b\nadd rule inet a none accept\n") ?? "", /No such file or directory/);
  match(context.run("add rule inet a c nonsense accept\n") ?? "", /syntax error/);
  deepEqual(nftTables({ namespace: one.path }), [{ family: "inet", name: "a" }]);
  deepEqual(nftTables({ namespace: two.path }), []);
});

test("what somebody else has changed meanwhile is known", { skip }, () => {
  const { name, path } = freshNamespace();
  using context = openNftables({ namespace: path });
  const set = "add set ip t s { type ipv4_addr; flags interval; }\n";
  equal(context.run(`add table ip t\n${set}add chain ip t c\n`), undefined);
  nft(name, "flush", "ruleset");
  match(context.run("add rule ip t c ip saddr @s drop\n") ?? "", /No such file or directory/);
  nft(name, "add", "table", "ip", "t");
  equal(context.run(`${set}add chain ip t c\nadd rule ip t c ip saddr @s drop\n`), undefined);
  equal(elements(context), undefined);
  nft(name, "add", "element", "ip", "t", "s", "{ 10.0.0.0/8 }");
  deepEqual(elements(context), [{ prefix: { addr: "10.0.0.0", len: 8 } }]);
});

test("nothing is read beyond a zero byte, and nothing is done with a closed context", { skip }, () => {
  const { path } = freshNamespace();
  const context = openNftables({ namespace: path });
  throws(() => context.run("add table ip a\n\0add table ip b\n"), /zero byte/);
  context[Symbol.dispose]();
  context[Symbol.dispose]();
  throws(() => context.run("add table ip a\n"), /closed/);
  deepEqual(nftTables({ namespace: path }), []);
});

test("tables of every family, more than fit into one datagram", { skip }, () => {
  const { path } = freshNamespace();
  using context = openNftables({ namespace: path });
  const wanted = ["inet", "ip", "ip6", "arp", "bridge", "netdev"].flatMap((family) =>
    Array.from({ length: 100 }, (_, number) => ({
      family,
      name: `table-with-a-long-name-so-that-it-takes-room-${number}`,
    })),
  );
  equal(context.run(wanted.map(({ family, name }) => `add table ${family} ${name}\n`).join("")), undefined);
  const order = (a: { family: string; name: string }, b: { family: string; name: string }) =>
    `${a.family} ${a.name}` < `${b.family} ${b.name}` ? -1 : 1;
  deepEqual([...nftTables({ namespace: path })].sort(order), wanted.sort(order));
});

function elements(context: NftContext): unknown {
  const { nftables }: { nftables: { set?: { elem?: unknown } }[] } = JSON.parse(
    context.list("list set ip t s", "json"),
  );
  return nftables.find(({ set }) => set !== undefined)?.set?.elem;
}
