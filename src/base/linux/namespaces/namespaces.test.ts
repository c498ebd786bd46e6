// Namespaces are made and left as `ip netns` does it; settings are those of the namespace that was named.
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readlinkSync } from "node:fs";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { createNamespace, deleteNamespace, inNamespace, namespaceNames, openNamespace } from "./network-namespace.ts";
import { readSysctl, sysctlPath, writeSysctl } from "./sysctl.ts";

const skip = noNamespaces;
const here = () => readlinkSync("/proc/thread-self/ns/net");

test("a namespace that we make is one that ip knows, and the other way round", { skip }, () => {
  const { name, path } = freshNamespace();
  ok(namespaceNames().includes(name));
  ok(execFileSync("ip", ["netns", "list"], { encoding: "utf8" }).includes(name));
  equal(
    execFileSync("ip", ["netns", "exec", name, "readlink", "/proc/self/ns/net"], { encoding: "utf8" }).trim(),
    inNamespace(path, here),
  );
  throws(() => createNamespace(name), { code: "NAMESPACE_EXISTS" });
  equal(deleteNamespace(name), true);
  equal(deleteNamespace(name), false);
  ok(!existsSync(path));
  execFileSync("ip", ["netns", "add", name]);
  ok(inNamespace(path, here) !== here());
  equal(deleteNamespace(name), true);
});

test("we are inside only as long as the work takes, also when it throws or nests", { skip }, () => {
  const [one, two] = [freshNamespace().path, freshNamespace().path];
  const home = here();
  const seen = inNamespace(one, () => [here(), inNamespace(two, here), here()]);
  equal(new Set([home, ...seen]).size, 3);
  equal(seen[0], seen[2]);
  throws(() => inNamespace(one, () => JSON.parse("no")), SyntaxError);
  throws(() => inNamespace(one, async () => undefined), /asynchronous/);
  equal(here(), home);
});

test("what is not a namespace is refused", { skip }, () => {
  throws(() => inNamespace("/run/netns/cattail-no-such", here), { code: "NAMESPACE_UNUSABLE", message: /ENOENT/ });
  throws(() => inNamespace("/etc/hostname", here), { code: "SYSTEM_CALL", message: /setns: EINVAL/ });
  throws(() => openNamespace("netns"), { code: "NAMESPACE_UNUSABLE", message: /not absolute/ });
  for (const name of ["", "..", "a/b", "-x", "x".repeat(65)])
    throws(() => createNamespace(name), { code: "NAMESPACE_NAME" });
});

const names: [name: string | string[], path: string][] = [
  ["net.ipv4.ip_forward", "net/ipv4/ip_forward"],
  ["net/ipv4/ip_forward", "net/ipv4/ip_forward"],
  ["net.ipv4.conf.eth0/100.rp_filter", "net/ipv4/conf/eth0.100/rp_filter"],
  ["net/ipv4/conf/eth0.100/rp_filter", "net/ipv4/conf/eth0.100/rp_filter"],
  [["net", "ipv4", "conf", "vxlan.test", "rp_filter"], "net/ipv4/conf/vxlan.test/rp_filter"],
];
for (const [name, path] of names) test(`a setting's name: ${name}`, () => equal(sysctlPath(name), `/proc/sys/${path}`));
for (const name of ["", "net..x", "../etc/passwd", "net/../../etc", "net/ipv4/", ["net", ".."], ["a/b"], []]) {
  test(`not a setting's name: ${JSON.stringify(name)}`, () => throws(() => sysctlPath(name), { code: "SYSCTL_NAME" }));
}

test("settings are read and written in the namespace that is named", { skip }, () => {
  const [one, two] = [freshNamespace().path, freshNamespace().path];
  writeSysctl("net.ipv4.conf.lo.rp_filter", 2, { namespace: one });
  deepEqual(
    [one, two].map((namespace) => readSysctl(["net", "ipv4", "conf", "lo", "rp_filter"], { namespace })),
    ["2", "0"],
  );
  throws(() => readSysctl("net.ipv4.no_such_thing", { namespace: one }), { code: "SYSCTL", message: /ENOENT/ });
  throws(() => writeSysctl("net.ipv4.ip_forward", "many", { namespace: one }), { code: "SYSCTL", message: /EINVAL/ });
});
