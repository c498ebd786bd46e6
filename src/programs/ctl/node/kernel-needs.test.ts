import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { report } from "./checksystem.ts";
import { isNewEnough, isThere, kernelNeeds, modulesListed, modulesLoaded, optionsSet } from "./kernel-needs.ts";

const versions: [version: string, is: boolean][] = [
  ["2.6.24", true],
  ["2.6.23-generic", false],
  ["2.6.32-754.el6.x86_64", true],
  ["3.10.0", true],
  ["6.18.44", true],
  ["6.18-rc1", true],
  ["2.4.99", false],
];
for (const [version, is] of versions) {
  test(`kernel ${version} is ${is ? "new enough" : "too old"}`, () => equal(isNewEnough(version), is));
}

test("modules.dep, modules.builtin and /proc/modules are read", () => {
  const dep =
    "kernel/net/netfilter/xt_set.ko.zst: kernel/net/netfilter/ipset/ip_set.ko.zst\nkernel/drivers/vfio/pci/vfio-pci.ko:\n";
  deepEqual(modulesListed(dep), ["xt_set", "ip_set", "vfio_pci"]);
  deepEqual(modulesListed("kernel/net/ipv4/netfilter/ip_tables.ko\n"), ["ip_tables"]);
  deepEqual(modulesLoaded("xt_mark 16384 2 - Live 0x0\nip_set 5 1 xt_set, Live 0x0\n"), ["xt_mark", "ip_set"]);
  deepEqual(optionsSet('# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_C=m\nCONFIG_D=n\nCONFIG_E="y"\n'), [
    "CONFIG_B",
    "CONFIG_C",
  ]);
});

const facts = (modules: string[], options: string[] = []) => ({ modules: new Set(modules), options: new Set(options) });
const needs: { name: string; need: string; has: ReturnType<typeof facts>; is: boolean }[] = [
  { name: "by its own name", need: "ip_set", has: facts(["ip_set"]), is: true },
  { name: "with the other dash", need: "vfio-pci", has: facts(["vfio_pci"]), is: true },
  { name: "by a module that is as good", need: "ipt_REJECT", has: facts(["xt_REJECT"]), is: true },
  { name: "by the kernel's configuration", need: "xt_set", has: facts([], ["CONFIG_NETFILTER_XT_SET"]), is: true },
  { name: "not by a name that only begins so", need: "ip_set", has: facts(["ip_set_hash_ip"]), is: false },
];
for (const { name, need, has, is } of needs) {
  test(`a need is met ${name}`, () => {
    const found = kernelNeeds.find((each) => each.name === need);
    equal(found === undefined ? undefined : isThere(found, has), is);
  });
}

test("the report: what is missing fails, but for what Calico does without", () => {
  const lines: string[] = [];
  const modules = kernelNeeds.map(({ name }) => name.replaceAll("-", "_")).filter((name) => name !== "xt_u32");
  equal(report({ release: "6.1.0", facts: facts(modules) }, { out: (text) => lines.push(text) }), true);
  deepEqual(lines.slice(0, 4), [
    "Checking kernel version...\n",
    "\t\t6.1.0               \t\t\t\t\tOK\n",
    "Checking kernel modules...\n",
    "\t\tip_set              \t\t\t\t\tOK\n",
  ]);
  deepEqual(lines.slice(-2), [
    "WARNING: Unable to detect optional module/feature xt_u32; continuing\n",
    "\t\txt_u32              \t\t\t\t\tSKIP\n",
  ]);
  lines.length = 0;
  equal(report({ release: "2.6.0", facts: facts(modules) }, { out: (text) => lines.push(text) }), false);
  equal(report({ release: "6.1.0", facts: facts([]) }, { out: (text) => lines.push(text) }), false);
  equal(lines.includes("WARNING: Unable to detect the ip_set module as Loaded/Builtin module or lsmod\n"), true);
});
