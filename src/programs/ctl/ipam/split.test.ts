import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import test from "node:test";
import {
  block,
  clusterInformation,
  connectionTo,
  invocationOn,
  ipamConsole,
  pool,
} from "../../../../test/kit/ctl-ipam.ts";
import type { Connection } from "../connection.ts";
import { run as configure } from "./configure.ts";
import { run } from "./split.ts";

const locked = clusterInformation({ datastoreReady: false });
const pools = [
  pool("p", "10.65.0.0/16", { natOutgoing: true }),
  pool("s", "10.66.0.0/26"),
  pool("six", "fd00:65::/64"),
];

async function split(connection: Connection, words: string[], flags: Parameters<typeof invocationOn>[1]) {
  const console = ipamConsole();
  equal(await run(invocationOn(connection, flags, words), console), 0);
  return console.lines();
}

test("ipam split: a pool becomes equal parts with its settings, and its blocks stay", async () => {
  const held = block("10.65.1.0/26", { owner: "host:n1", held: { 0: { handle_id: "a" } } });
  const connection = await connectionTo([locked, ...pools, held]);
  deepEqual(await split(connection, ["4"], { name: "p" }), [
    "IP Pool p was successfully split into 4 smaller pools.Created split-p-0 with CIDR 10.65.0.0/18.",
    "Created split-p-1 with CIDR 10.65.64.0/18.",
    "Created split-p-2 with CIDR 10.65.128.0/18.",
    "Created split-p-3 with CIDR 10.65.192.0/18.",
    "Please refer to the documentation for final steps.",
  ]);
  const { items } = await connection.resources.list("IPPool");
  deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["s", "six", "split-p-0", "split-p-1", "split-p-2", "split-p-3"],
  );
  ok(items.every(({ spec }) => spec.disabled !== true));
  equal(items.find(({ metadata }) => metadata.name === "split-p-2")?.spec.natOutgoing, true);
  const { spec } = await connection.resources.get("IPAMBlock", { namespace: "", name: "10-65-1-0-26" });
  equal(spec.affinity, "host:n1");
});

test("ipam split: IPv6, by its CIDR in another spelling", async () => {
  const lines = await split(await connectionTo([locked, ...pools]), ["2"], { cidr: "fd00:65:0::/64" });
  match(lines.join("\n"), /split-six-1 with CIDR fd00:65:0:0:8000::\/65\./);
});

const wrong: { name: string; words: string; flags: Parameters<typeof invocationOn>[1]; message: RegExp }[] = [
  {
    name: "what is no number",
    words: "four",
    flags: { name: "p" },
    message:
      /^error reading number to split IP pools into\. four is not a valid number: strconv\.Atoi: parsing "four": invalid syntax$/,
  },
  {
    name: "a number beyond all numbers",
    words: "99999999999999999999",
    flags: { name: "p" },
    message: /value out of range$/,
  },
  {
    name: "neither name nor CIDR",
    words: "4",
    flags: {},
    message: /^no name or CIDR provided\. Provide a name or CIDR to denote the IP pool to split$/,
  },
  {
    name: "an unknown name",
    words: "4",
    flags: { name: "q" },
    message: /^unable to find IP pool with name q: resource does/,
  },
  {
    name: "a CIDR that is a part of a pool",
    words: "4",
    flags: { cidr: "10.65.0.0/17" },
    message: /^unable to find IP pool {2}covering the specified CIDR 10\.65\.0\.0\/17$/,
  },
  {
    name: "a name and another pool's CIDR",
    words: "4",
    flags: { name: "p", cidr: "10.66.0.0/26" },
    message: /^IP pool p has the CIDR 10\.65\.0\.0\/16, not 10\.66\.0\.0\/26\./,
  },
  ...["0", "1", "3", "-2"].map((words) => ({
    name: `${words} parts`,
    words,
    flags: { name: "p" },
    message: new RegExp(`into ${words} CIDRs: number to split CIDR into is not a valid power of 2: ${words}$`),
  })),
  {
    name: "more parts than addresses",
    words: "128",
    flags: { name: "s" },
    message: /the CIDR 10\.66\.0\.0\/26 is not large enough to be split into 128 parts$/,
  },
  {
    name: "parts smaller than a block",
    words: "2",
    flags: { name: "s" },
    message: /the parts would be smaller than the pool's blocks, which are \/26$/,
  },
  {
    name: "more pools than anybody wants",
    words: "2048",
    flags: { name: "six" },
    message: /2048 parts are more than 1024$/,
  },
];
for (const { name, words, flags, message } of wrong) {
  test(`ipam split: ${name} is refused, and every pool stays as it is`, async () => {
    const connection = await connectionTo([locked, ...pools]);
    await rejects(split(connection, [words], flags), { message });
    const { items } = await connection.resources.list("IPPool");
    deepEqual(
      items.map(({ metadata, spec }) => [metadata.name, spec.disabled]),
      [
        ["p", undefined],
        ["s", undefined],
        ["six", undefined],
      ],
    );
  });
}

test("ipam split: an unlocked datastore is refused", async () => {
  const connection = await connectionTo([clusterInformation({ datastoreReady: true }), ...pools]);
  const message =
    "datastore is not locked. Run the `calicoctl datastore migrate lock` command in order split the IP pools";
  await rejects(split(connection, ["4"], { name: "p" }), { message });
});

test("ipam split: where a part cannot be made, what was made goes and the pool is as before", async () => {
  const connection = await connectionTo([locked, pool("p", "10.65.0.0/16"), pool("split-p-2", "10.90.0.0/16")]);
  await rejects(split(connection, ["4"], { name: "p" }), /already exists/);
  const { items } = await connection.resources.list("IPPool");
  deepEqual(
    items.map(({ metadata, spec }) => [metadata.name, spec.cidr, spec.disabled]),
    [
      ["p", "10.65.0.0/16", undefined],
      ["split-p-2", "10.90.0.0/16", undefined],
    ],
  );
});

type Flags = Parameters<typeof invocationOn>[1];
const settings: { name: string; flags: Flags; lines?: string[]; message?: string | RegExp }[] = [
  {
    name: "everything at once is told in one order",
    flags: {
      "ip-cooldown-seconds": "7",
      "kubevirt-ip-persistence": "Disabled",
      "max-blocks-per-host": "4",
      strictaffinity: "True",
    },
    lines: [
      "Successfully set StrictAffinity to: true",
      "Successfully set MaxBlocksPerHost to: 4",
      "Successfully set KubeVirtVMAddressPersistence to: Disabled",
      "Successfully set IPCooldownSeconds to: 7",
    ],
  },
  {
    name: "nothing",
    flags: { "ip-cooldown-seconds": "-1" },
    message: "at least one configuration option must be specified",
  },
  {
    name: "empty values",
    flags: { strictaffinity: "" },
    message: "at least one configuration option must be specified",
  },
  {
    name: "no truth",
    flags: { strictaffinity: "maybe" },
    message: "invalid value. Use true or false to set strictaffinity",
  },
  {
    name: "no number",
    flags: { "max-blocks-per-host": "x" },
    message: "invalid value for maxblockhost. Use a valid number",
  },
  {
    name: "another letter case",
    flags: { "kubevirt-ip-persistence": "enabled" },
    message: "invalid value for --kubevirt-ip-persistence. Use Enabled or Disabled",
  },
  {
    name: "no seconds",
    flags: { "ip-cooldown-seconds": "x" },
    message: 'invalid argument "x" for "--ip-cooldown-seconds" flag: strconv.ParseInt: parsing "x": invalid syntax',
  },
  {
    name: "a limit of blocks without strict affinity",
    flags: { "max-blocks-per-host": "3" },
    message: "error: MaxBlocksPerHost requires StrictAffinity to be enabled",
  },
  { name: "more seconds than there may be", flags: { "ip-cooldown-seconds": "1201" }, message: /^error: .*1200/s },
];
for (const { name, flags, lines, message = "" } of settings) {
  test(`ipam configure: ${name}`, async () => {
    const console = ipamConsole();
    const done = configure(invocationOn(await connectionTo([]), flags), console);
    if (lines === undefined) return await rejects(done, { message });
    equal(await done, 0);
    deepEqual(console.lines(), lines);
  });
}
