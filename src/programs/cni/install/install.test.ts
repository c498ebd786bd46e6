import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { eventually } from "../../../../test/kit/eventually.ts";
import { install, uninstall } from "./install.ts";
import { launcher } from "./programs.ts";
import { readInstallSettings, type Variables } from "./settings.ts";
import { chosenTemplate, fill } from "./template.ts";

const base = mkdtempSync(join(tmpdir(), "cattail-install-"));
after(() => rmSync(base, { recursive: true, force: true }));
let hosts = 0;

/** A machine of its own: a host, or a container with the host's folders mounted. */
function machine(is: "host" | "container"): { root: string; bin: string; net: string; source: string } {
  hosts += 1;
  const root = join(base, `m${hosts}`);
  const host = is === "host" ? root : `${root}/host`;
  const [bin, net, source] = [`${host}/opt/cni/bin`, `${host}/etc/cni/net.d`, join(root, "cattail")];
  for (const folder of is === "host" ? [root] : [root, bin, net]) mkdirSync(folder, { recursive: true });
  writeFileSync(source, "#!program", { mode: 0o755 });
  return { root, bin, net, source };
}

type Asked = { readonly root: string; readonly source: string };
async function installed(at: Asked, variables: Variables = {}, more: object = {}): Promise<string[]> {
  const said: string[] = [];
  await install({
    variables: { DATASTORE_TYPE: "directory", SLEEP: "false", CNI_NETWORK_CONFIG: '{"type":"calico"}', ...variables },
    say: (line) => void said.push(line.replaceAll(at.root, "")),
    signal: AbortSignal.timeout(60_000),
    root: at.root,
    program: { is: "executable", file: at.source },
    ...more,
  });
  return said;
}

test("a host gets both plugins, and the network configuration last", async () => {
  const at = machine("host");
  const said = await installed(at);
  deepEqual(said, [
    "installed /opt/cni/bin/calico",
    "installed /opt/cni/bin/calico-ipam",
    "wrote /etc/cni/net.d/10-calico.conflist",
    "the CNI plugin is installed",
  ]);
  equal(readFileSync(join(at.bin, "calico-ipam"), "utf8"), "#!program");
  equal(statSync(join(at.bin, "calico")).ino, statSync(join(at.bin, "calico-ipam")).ino);
  equal(statSync(join(at.bin, "calico")).mode & 0o777, 0o755);
  equal(statSync(join(at.net, "10-calico.conflist")).mode & 0o777, 0o600);
});

test("what is up to date is left alone, and what is new takes its place in one step", async () => {
  const at = machine("container");
  await installed(at);
  const { ino } = statSync(join(at.bin, "calico"));
  match((await installed(at)).join("\n"), /calico is up to date\n.*calico-ipam is up to date/);
  equal(statSync(join(at.bin, "calico")).ino, ino);
  writeFileSync(at.source, "#!another", { mode: 0o755 });
  await installed(at);
  equal(readFileSync(join(at.bin, "calico-ipam"), "utf8"), "#!another");
  ok(!existsSync(join(at.bin, "calico.tmp")));
});

test("UPDATE_CNI_BINARIES=false keeps what is there", async () => {
  const at = machine("container");
  writeFileSync(join(at.bin, "calico"), "old");
  const said = await installed(at, { UPDATE_CNI_BINARIES: "false" });
  equal(readFileSync(join(at.bin, "calico"), "utf8"), "old");
  match(said[0] ?? "", /calico is kept/);
  equal(readFileSync(join(at.bin, "calico-ipam"), "utf8"), "#!program");
});

test("plugins of the image come along, but for those that are skipped and our own", async () => {
  const at = machine("container");
  const brought = `${at.root}/opt/cni/bin`;
  mkdirSync(brought, { recursive: true });
  for (const name of ["portmap", "bandwidth", "install", "calico"]) writeFileSync(join(brought, name), name);
  await installed(at, { SKIP_CNI_BINARIES: "bandwidth" });
  deepEqual(
    ["portmap", "bandwidth", "install"].map((name) => existsSync(join(at.bin, name))),
    [true, false, false],
  );
  equal(readFileSync(join(at.bin, "calico"), "utf8"), "#!program");
});

test("a file of another name is removed once the new one is there", async () => {
  const at = machine("host");
  await installed(at);
  const said = await installed(at, { CNI_CONF_NAME: "05-mine.conflist", CNI_OLD_CONF_NAME: "10-calico.conflist" });
  deepEqual(said.slice(-3, -1), ["wrote /etc/cni/net.d/05-mine.conflist", "removed /etc/cni/net.d/10-calico.conflist"]);
});

test("etcd's certificates are put on the host, named there, and followed", async () => {
  const at = machine("container");
  const secrets = `${at.root}/calico-secrets`;
  mkdirSync(secrets);
  for (const name of ["etcd-ca", "etcd-cert", "etcd-key"]) writeFileSync(join(secrets, name), name, { mode: 0o400 });
  const template = '{"ca":"__ETCD_CA_CERT_FILE__","cert":"__ETCD_CERT_FILE__","key":"__ETCD_KEY_FILE__"}';
  const stop = new AbortController();
  const staying = installed(
    at,
    { SLEEP: "true", CNI_NETWORK_CONFIG: template, CNI_NET_DIR: "/etc/cni/other" },
    { signal: stop.signal },
  );
  const target = (name: string) => join(at.net, "calico-tls", name);
  await eventually(() => existsSync(join(at.net, "10-calico.conflist")), "the conflist");
  deepEqual(JSON.parse(readFileSync(join(at.net, "10-calico.conflist"), "utf8")), {
    ca: "/etc/cni/other/calico-tls/etcd-ca",
    cert: "/etc/cni/other/calico-tls/etcd-cert",
    key: "/etc/cni/other/calico-tls/etcd-key",
  });
  equal(statSync(target("etcd-key")).mode & 0o777, 0o400);
  rmSync(join(secrets, "etcd-cert"));
  writeFileSync(join(secrets, "etcd-cert"), "renewed", { mode: 0o400 });
  await eventually(
    () => existsSync(target("etcd-cert")) && readFileSync(target("etcd-cert"), "utf8") === "renewed",
    "the new one",
  );
  stop.abort();
  await staying;
});

test("certificates of a former installation go when there are none any more", async () => {
  const at = machine("container");
  mkdirSync(join(at.net, "calico-tls"));
  writeFileSync(join(at.net, "calico-tls", "etcd-key"), "old");
  await installed(at);
  ok(!existsSync(join(at.net, "calico-tls")));
});

test("a kubeconfig that was made for the plugin is put in place as it is", async () => {
  const at = machine("host");
  const file = join(at.root, "cni.kubeconfig");
  const text = `apiVersion: v1\nkind: Config\nclusters:\n- name: k\n  cluster:\n    server: https://10.0.0.1:6443\nusers:\n- name: calico-cni\n  user:\n    token: t\ncontexts:\n- name: c\n  context:\n    cluster: k\n    user: calico-cni\ncurrent-context: c\n`;
  writeFileSync(file, text);
  await installed(at, { CNI_NETWORK_CONFIG: "" }, { pluginKubeconfig: file });
  equal(readFileSync(join(at.net, "calico-kubeconfig"), "utf8"), text);
  equal(statSync(join(at.net, "calico-kubeconfig")).mode & 0o777, 0o600);
  await rejects(installed(at, {}, { pluginKubeconfig: join(at.root, "none") }), { code: "CNI_PLUGIN_KUBECONFIG" });
});

test("a kubeconfig that names files beside it is refused: it would not find them where it is put", async () => {
  const at = machine("host");
  const file = join(at.root, "relative.kubeconfig");
  const text = (path: string) =>
    `# certificate-authority: of-a-comment\nclusters: [{name: k, cluster: {server: "https://10.0.0.1", certificate-authority: ${path}}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\ncurrent-context: c\n`;
  writeFileSync(file, text("ca.crt"));
  const refused = installed(at, {}, { pluginKubeconfig: file });
  await rejects(refused, { code: "CNI_PLUGIN_KUBECONFIG", message: /certificate-authority is ca\.crt, which is not/ });
  const authority = join(at.root, "ca.crt");
  writeFileSync(authority, "");
  writeFileSync(file, text(authority));
  ok((await installed(at, {}, { pluginKubeconfig: file })).includes("wrote /etc/cni/net.d/calico-kubeconfig"));
});

test("a word that stands for nothing, and a network that a runtime takes instead, are said", async () => {
  const at = machine("host");
  mkdirSync(at.net, { recursive: true });
  for (const name of ["05-other.conflist", "00-readme.txt"]) writeFileSync(join(at.net, name), "{}");
  const said = await installed(at, { CNI_NETWORK_CONFIG: '{"type":"calico","log_level":"__LOG_LEVLE__"}' });
  deepEqual(
    said.filter((line) => line.startsWith("warning")),
    [
      "warning: the network configuration has the word __LOG_LEVLE__, which is none; did you mean __LOG_LEVEL__?",
      "warning: /etc/cni/net.d/05-other.conflist comes before 10-calico.conflist, and a runtime uses the first: remove it, or set CNI_CONF_NAME to a name that comes before it",
    ],
  );
});

test("nothing is said to be ready where the plugin would have no kubeconfig", async () => {
  const at = machine("host");
  await rejects(installed(at, { CNI_NETWORK_CONFIG: "" }), { code: "CNI_NO_KUBECONFIG" });
  ok(!existsSync(join(at.net, "10-calico.conflist")));
});

test("a bad template is refused before anything is in place, without a word of what it holds", async () => {
  const at = machine("host");
  const broken = installed(at, { CNI_NETWORK_CONFIG: '{"token":"hunter2", mtu: __CNI_MTU__}' });
  await rejects(
    broken,
    (error: Error & { code: string }) => error.code === "CNI_CONFIG_NOT_JSON" && !error.message.includes("hunter2"),
  );
  await rejects(broken, /\(invalid character 'm' looking for beginning of object key string\)/);
  ok(!existsSync(join(at.bin, "calico")));
});

test("no folder that can be written to: said, with what to do", async () => {
  const at = machine("container");
  rmSync(at.bin, { recursive: true });
  await rejects(installed(at), { code: "CNI_NO_BIN_FOLDER" });
});

test("uninstall takes away what install put there, and leaves what others did", async () => {
  const at = machine("host");
  await installed(at);
  writeFileSync(join(at.bin, "portmap"), "");
  rmSync(join(at.bin, "calico"));
  writeFileSync(join(at.bin, "calico"), "somebody else's");
  const said: string[] = [];
  await uninstall({
    variables: {},
    root: at.root,
    say: (line) => void said.push(line.replaceAll(at.root, "")),
    program: { is: "executable", file: at.source },
  });
  deepEqual(said, [
    "removed /etc/cni/net.d/10-calico.conflist",
    "/opt/cni/bin/calico is not of this Cattail, and stays",
    "removed /opt/cni/bin/calico-ipam",
  ]);
  ok(existsSync(join(at.bin, "portmap")));
});

test("uninstall says so where nothing is installed", async () => {
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  await uninstall({ variables: {}, root: machine("host").root, say, program: undefined });
  deepEqual(said, ["nothing of the CNI plugin is here"]);
});

test("uninstall knows links and launchers of any Cattail", async () => {
  const at = machine("host");
  mkdirSync(at.bin, { recursive: true });
  symlinkSync(at.source, join(at.bin, "calico"));
  writeFileSync(join(at.bin, "calico-ipam"), launcher("/usr/bin/node", "/x/bin/cni-plugin.cjs"));
  await uninstall({ variables: {}, root: at.root, say: () => undefined, program: undefined });
  ok(!existsSync(join(at.bin, "calico")) && !existsSync(join(at.bin, "calico-ipam")));
});

const known = {
  kubeconfigPath: "/etc/cni/net.d/calico-kubeconfig",
  serviceAccountToken: "tok",
  etcd: { ca: "", cert: "", key: "" },
};
test("the built-in template is the original's, with its defaults", () => {
  deepEqual(fill(chosenTemplate({}), { KUBERNETES_NODE_NAME: "n1" }, known).value, {
    name: "k8s-pod-network",
    cniVersion: "1.0.0",
    plugins: [
      {
        type: "calico",
        log_level: "info",
        log_file_path: "/var/log/calico/cni/cni.log",
        datastore_type: "kubernetes",
        nodename: "n1",
        mtu: 1500,
        ipam: { type: "calico-ipam" },
        policy: { type: "k8s" },
        kubernetes: { kubeconfig: "/etc/cni/net.d/calico-kubeconfig" },
        require_mtu_file: false,
        calico_api_group: "crd.projectcalico.org/v1",
      },
      { type: "portmap", snat: true, capabilities: { portMappings: true } },
    ],
  });
});

test("every word is filled in from the variable of its name", () => {
  const names =
    "LOG_LEVEL LOG_FILE_PATH LOG_FILE_MAX_SIZE LOG_FILE_MAX_AGE LOG_FILE_MAX_COUNT DATASTORE_TYPE KUBERNETES_NODE_NAME CNI_MTU KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT CALICO_API_GROUP ETCD_ENDPOINTS ETCD_DISCOVERY_SRV REQUIRE_MTU_FILE".split(
      " ",
    );
  const template = JSON.stringify(Object.fromEntries(names.map((name) => [name, `__${name}__`])));
  const variables = Object.fromEntries(names.map((name) => [name, `$& ${name}`]));
  deepEqual(fill(template, variables, known).value, variables);
  equal(fill('{"t":"__SERVICEACCOUNT_TOKEN__"}', {}, known).value.t, "tok");
});

test("a word that is none is named, with the one that was probably meant", () => {
  throws(() => fill('{"mtu": __CNI_MTUU__}', {}, known), /did you mean __CNI_MTU__\?/);
});

const wrong: Variables[] = [
  { CNI_CONF_NAME: "../../etc/passwd" },
  { CNI_NET_DIR: "net.d" },
  { CNI_NET_DIR: "/etc/../root" },
  { UPDATE_CNI_BINARIES: "perhaps" },
];
for (const variables of wrong)
  test(`${JSON.stringify(variables)} is refused by name`, () =>
    throws(() => readInstallSettings(variables, { root: base }), { code: "CNI_INSTALL_SETTING" }));
