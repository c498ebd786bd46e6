import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { type Environment, readSettings, type Settings, settingNames, settingsTable } from "./index.ts";
import type { SettingName } from "./table.ts";

const checks = { exists: (path: string) => path.startsWith("/exists") };
const read = (environment: Environment, text?: string) =>
  readSettings({
    environment,
    checks,
    ...(text === undefined ? {} : { file: { path: "/etc/calico/typha.cfg", text } }),
  });

// The original's table: name, default, and the value that `none` ends up as.
const originals: { name: SettingName; env: string; default: unknown; none: unknown }[] = [
  { name: "etcdAddr", env: "TYPHA_ETCDADDR", default: "127.0.0.1:2379", none: "" },
  { name: "etcdScheme", env: "TYPHA_ETCDSCHEME", default: "http", none: "" },
  { name: "etcdKeyFile", env: "TYPHA_ETCDKEYFILE", default: "", none: "" },
  { name: "etcdCertFile", env: "TYPHA_ETCDCERTFILE", default: "", none: "" },
  { name: "etcdCaFile", env: "TYPHA_ETCDCAFILE", default: "", none: "" },
  { name: "etcdEndpoints", env: "TYPHA_ETCDENDPOINTS", default: [], none: [] },
  { name: "logFilePath", env: "TYPHA_LOGFILEPATH", default: "/var/log/calico/typha.log", none: "" },
  { name: "logSeverityFile", env: "TYPHA_LOGSEVERITYFILE", default: "INFO", none: "" },
  { name: "logSeverityScreen", env: "TYPHA_LOGSEVERITYSCREEN", default: "INFO", none: "" },
  { name: "logSeveritySys", env: "TYPHA_LOGSEVERITYSYS", default: "INFO", none: "" },
  { name: "healthEnabled", env: "TYPHA_HEALTHENABLED", default: false, none: false },
  { name: "healthHost", env: "TYPHA_HEALTHHOST", default: "localhost", none: "" },
  { name: "healthPort", env: "TYPHA_HEALTHPORT", default: 9098, none: 0 },
  { name: "prometheusMetricsEnabled", env: "TYPHA_PROMETHEUSMETRICSENABLED", default: false, none: false },
  { name: "prometheusMetricsHost", env: "TYPHA_PROMETHEUSMETRICSHOST", default: "", none: "" },
  { name: "prometheusMetricsPort", env: "TYPHA_PROMETHEUSMETRICSPORT", default: 9093, none: 0 },
  { name: "prometheusGoMetricsEnabled", env: "TYPHA_PROMETHEUSGOMETRICSENABLED", default: true, none: false },
  { name: "prometheusProcessMetricsEnabled", env: "TYPHA_PROMETHEUSPROCESSMETRICSENABLED", default: true, none: false },
  { name: "prometheusMetricsCaFile", env: "TYPHA_PROMETHEUSMETRICSCAFILE", default: "", none: "" },
  { name: "prometheusMetricsCertFile", env: "TYPHA_PROMETHEUSMETRICSCERTFILE", default: "", none: "" },
  { name: "prometheusMetricsKeyFile", env: "TYPHA_PROMETHEUSMETRICSKEYFILE", default: "", none: "" },
  {
    name: "prometheusMetricsClientAuth",
    env: "TYPHA_PROMETHEUSMETRICSCLIENTAUTH",
    default: "NoClientCert",
    none: "NoClientCert",
  },
  { name: "snapshotCacheMaxBatchSize", env: "TYPHA_SNAPSHOTCACHEMAXBATCHSIZE", default: 100, none: 100 },
  { name: "serverMaxMessageSize", env: "TYPHA_SERVERMAXMESSAGESIZE", default: 100, none: 100 },
  { name: "serverMaxFallBehindMs", env: "TYPHA_SERVERMAXFALLBEHINDSECS", default: 300_000, none: 300_000 },
  {
    name: "serverNewClientFallBehindGraceMs",
    env: "TYPHA_SERVERNEWCLIENTFALLBEHINDGRACEPERIOD",
    default: 300_000,
    none: 300_000,
  },
  { name: "serverMinBatchingAgeThresholdMs", env: "TYPHA_SERVERMINBATCHINGAGETHRESHOLDSECS", default: 10, none: 100 },
  { name: "serverPingIntervalMs", env: "TYPHA_SERVERPINGINTERVALSECS", default: 10_000, none: 10_000 },
  { name: "serverPongTimeoutMs", env: "TYPHA_SERVERPONGTIMEOUTSECS", default: 60_000, none: 60_000 },
  { name: "serverHandshakeTimeoutMs", env: "TYPHA_SERVERHANDSHAKETIMEOUTSECS", default: 10_000, none: 10_000 },
  { name: "serverWriteTimeoutMs", env: "TYPHA_SERVERWRITETIMEOUTSECS", default: 120_000, none: 120_000 },
  { name: "serverPort", env: "TYPHA_SERVERPORT", default: 5473, none: 5473 },
  { name: "serverHost", env: "TYPHA_SERVERHOST", default: "", none: "" },
  { name: "serverKeyFile", env: "TYPHA_SERVERKEYFILE", default: "", none: "" },
  { name: "serverCertFile", env: "TYPHA_SERVERCERTFILE", default: "", none: "" },
  { name: "caFile", env: "TYPHA_CAFILE", default: "", none: "" },
  { name: "clientCn", env: "TYPHA_CLIENTCN", default: "", none: "" },
  { name: "clientUriSan", env: "TYPHA_CLIENTURISAN", default: "", none: "" },
  { name: "debugMemoryProfilePath", env: "TYPHA_DEBUGMEMORYPROFILEPATH", default: "", none: "" },
  { name: "debugDisableLogDropping", env: "TYPHA_DEBUGDISABLELOGDROPPING", default: false, none: false },
  { name: "debugHost", env: "TYPHA_DEBUGHOST", default: "localhost", none: "" },
  { name: "debugPort", env: "TYPHA_DEBUGPORT", default: 0, none: 0 },
  { name: "connectionRebalancingMode", env: "TYPHA_CONNECTIONREBALANCINGMODE", default: "none", none: "none" },
  { name: "connectionDropIntervalMs", env: "TYPHA_CONNECTIONDROPINTERVALSECS", default: 1_000, none: 1_000 },
  { name: "shutdownTimeoutMs", env: "TYPHA_SHUTDOWNTIMEOUTSECS", default: 300_000, none: 300_000 },
  {
    name: "shutdownConnectionDropIntervalMaxMs",
    env: "TYPHA_SHUTDOWNCONNECTIONDROPINTERVALMAXSECS",
    default: 1_000,
    none: 1_000,
  },
  { name: "maxConnectionsUpperLimit", env: "TYPHA_MAXCONNECTIONSUPPERLIMIT", default: 10_000, none: 2 ** 31 - 1 },
  { name: "maxConnectionsLowerLimit", env: "TYPHA_MAXCONNECTIONSLOWERLIMIT", default: 400, none: 0 },
  { name: "k8sServicePollIntervalMs", env: "TYPHA_K8SSERVICEPOLLINTERVALSECS", default: 30_000, none: 30_000 },
  { name: "k8sNamespace", env: "TYPHA_K8SNAMESPACE", default: "kube-system", none: "" },
  { name: "k8sServiceName", env: "TYPHA_K8SSERVICENAME", default: "calico-typha", none: "" },
  { name: "k8sPortName", env: "TYPHA_K8SPORTNAME", default: "calico-typha", none: "" },
];
for (const row of originals) {
  test(`${row.env}: the original's name, default and meaning of none`, () => {
    const { values, problems } = read({});
    deepEqual(problems, []);
    deepEqual(values[row.name], row.default);
    equal(settingsTable[row.name].env[0], row.env);
    deepEqual(read({ [row.env]: "NoNe", TYPHA_DATASTORETYPE: "memory" }).values[row.name], row.none);
    deepEqual(read({ [row.env]: "" }).values[row.name], row.default, "an empty value counts as unset");
    equal(read({ [row.env]: "" }).origins.get(row.name)?.from, "default");
  });
}

const good: { name: string; environment?: Environment; file?: string; want: Partial<Settings> }[] = [
  {
    name: "booleans in every spelling",
    environment: { TYPHA_HEALTHENABLED: "Yes", TYPHA_PROMETHEUSGOMETRICSENABLED: "F" },
    want: { healthEnabled: true, prometheusGoMetricsEnabled: false },
  },
  { name: "octal integers", environment: { TYPHA_HEALTHPORT: "010" }, want: { healthPort: 8 } },
  {
    name: "hexadecimal, binary, new octal, signs and underscores",
    environment: {
      TYPHA_HEALTHPORT: "0x1F_40",
      TYPHA_DEBUGPORT: "0b101",
      TYPHA_SERVERPORT: "0o17",
      TYPHA_MAXCONNECTIONSLOWERLIMIT: "+1_000",
    },
    want: { healthPort: 8000, debugPort: 5, serverPort: 15, maxConnectionsLowerLimit: 1000 },
  },
  {
    name: "seconds with fractions and exponents",
    environment: { TYPHA_SERVERPINGINTERVALSECS: "0.5", TYPHA_SHUTDOWNTIMEOUTSECS: "1e2" },
    want: { serverPingIntervalMs: 500, shutdownTimeoutMs: 100_000 },
  },
  {
    name: "negative seconds become the second default",
    environment: { TYPHA_SERVERHANDSHAKETIMEOUTSECS: "-1" },
    want: { serverHandshakeTimeoutMs: 10_000 },
  },
  {
    name: "a duration for ever is as long as timers can be",
    environment: { TYPHA_SERVERMAXFALLBEHINDSECS: "1e12" },
    want: { serverMaxFallBehindMs: 2 ** 31 - 1 },
  },
  {
    name: "choices in any case",
    environment: {
      TYPHA_LOGSEVERITYSCREEN: "debug",
      TYPHA_DATASTORETYPE: "KUBERNETES",
      TYPHA_PROMETHEUSMETRICSCLIENTAUTH: "requireanyclientcert",
    },
    want: {
      logSeverityScreen: "DEBUG",
      datastoreType: "kubernetes",
      prometheusMetricsClientAuth: "RequireAnyClientCert",
    },
  },
  { name: "names in any case", environment: { typha_ServerPort: "99" }, want: { serverPort: 99 } },
  { name: "port 0 is the standard port", environment: { TYPHA_SERVERPORT: "0" }, want: { serverPort: 5473 } },
  {
    name: "a short pong timeout becomes six pings",
    environment: { TYPHA_SERVERPINGINTERVALSECS: "10", TYPHA_SERVERPONGTIMEOUTSECS: "20" },
    want: { serverPongTimeoutMs: 60_000 },
  },
  {
    name: "a pong timeout above two pings stays",
    environment: { TYPHA_SERVERPONGTIMEOUTSECS: "20.1" },
    want: { serverPongTimeoutMs: 20_100 },
  },
  {
    name: "endpoints get their slash",
    environment: { TYPHA_ETCDENDPOINTS: "https://a:2379, HTTP://[fd00::1]:2379/ ,," },
    want: { etcdEndpoints: ["https://a:2379/", "http://[fd00::1]:2379/"] },
  },
  {
    name: "the environment wins over the file",
    environment: { TYPHA_SERVERPORT: "1" },
    file: "ServerPort=2\nHealthPort=3",
    want: { serverPort: 1, healthPort: 3 },
  },
  {
    name: "also when the file spells it in another case",
    environment: { TYPHA_SERVERPORT: "1" },
    file: "serverport=2",
    want: { serverPort: 1 },
  },
  {
    name: "an empty variable leaves the file's value",
    environment: { TYPHA_SERVERPORT: "" },
    file: "ServerPort=2",
    want: { serverPort: 2 },
  },
  {
    name: "none in the environment beats a value in the file",
    environment: { TYPHA_LOGFILEPATH: "none" },
    file: "LogFilePath=/x",
    want: { logFilePath: "" },
  },
  {
    name: "of a name twice in the file the later counts",
    file: "ServerPort=1\n[b]\nServerPort=2",
    want: { serverPort: 2 },
  },
  {
    name: "proxies in either case, capitals first, an empty one being none",
    environment: { HTTPS_PROXY: "", https_proxy: "http://a:1", http_proxy: "b:2", HTTP_PROXY: "c:3", no_proxy: "d" },
    want: { httpsProxy: "http://a:1", httpProxy: "c:3", noProxy: "d" },
  },
  {
    name: "the CALICO_ prefix is tried first",
    environment: { KUBECONFIG: "/a", CALICO_KUBECONFIG: "/b" },
    want: { kubeconfig: "/b" },
  },
  {
    name: "an empty prefixed text variable hides the plain one",
    environment: { KUBECONFIG: "/a", CALICO_KUBECONFIG: "" },
    want: { kubeconfig: "" },
  },
  {
    name: "Go's booleans for the datastore",
    environment: { K8S_INSECURE_SKIP_TLS_VERIFY: "T", USE_POD_CIDR: "1" },
    want: { k8sInsecureSkipTlsVerify: true, usePodCidr: true },
  },
  {
    name: "the doubled prefix of the API group",
    environment: { CALICO_CALICO_API_GROUP: "x", CALICO_API_GROUP: "y" },
    want: { calicoApiGroup: "x" },
  },
  {
    name: "none is an ordinary word for what is no parameter",
    environment: { KUBECONFIG: "none" },
    want: { kubeconfig: "none" },
  },
  { name: "worker threads", environment: { TYPHA_WORKERS: "0" }, want: { workers: 0 } },
  {
    name: "peers",
    environment: { TYPHA_PEERADDRESSES: "10.0.0.1:5473,[::1]:5473" },
    want: { peerAddresses: ["10.0.0.1:5473", "[::1]:5473"] },
  },
  {
    name: "TLS",
    environment: { TLS_MIN_VERSION: "1.3", TLS_CIPHER_SUITES: "A, B" },
    want: { tlsMinVersion: "1.3", tlsCipherSuites: ["A", "B"] },
  },
  {
    name: "the Deployment of the guides",
    environment: {
      TYPHA_LOGFILEPATH: "none",
      TYPHA_LOGSEVERITYSYS: "none",
      TYPHA_CONNECTIONREBALANCINGMODE: "kubernetes",
      TYPHA_DATASTORETYPE: "kubernetes",
      TYPHA_HEALTHENABLED: "true",
      TYPHA_CAFILE: "/exists/typhaca.crt",
      TYPHA_CLIENTCN: "calico-node",
      TYPHA_SERVERCERTFILE: "/exists/typha.crt",
      TYPHA_SERVERKEYFILE: "/exists/typha.key",
    },
    want: {
      logFilePath: "",
      logSeveritySys: "",
      connectionRebalancingMode: "kubernetes",
      clientCn: "calico-node",
      healthPort: 9098,
    },
  },
];
for (const { name, environment = {}, file, want } of good) {
  test(`settings: ${name}`, () => {
    const { values, problems } = read(environment, file);
    deepEqual(problems, []);
    for (const [key, value] of Object.entries(want)) deepEqual(values[key as SettingName], value, key);
  });
}

const wrong: { name: string; environment?: Environment; file?: string; says: RegExp[] }[] = [
  {
    name: "a port that is a word",
    environment: { TYPHA_SERVERPORT: "http" },
    says: [/^TYPHA_SERVERPORT \(environment\) is "http", but must be an integer from 0 to 65535/],
  },
  { name: "a port out of range", environment: { TYPHA_HEALTHPORT: "65536" }, says: [/65536 is out of range/] },
  { name: "a bad octal", environment: { TYPHA_HEALTHPORT: "08" }, says: [/no integer/] },
  {
    name: "more than 32 bits",
    environment: { TYPHA_SERVERMAXMESSAGESIZE: "2147483648" },
    says: [/2147483648 is out of range/],
  },
  { name: "a misplaced underscore", environment: { TYPHA_HEALTHPORT: "9098_" }, says: [/no integer/] },
  {
    name: "a value with a blank",
    environment: { TYPHA_HEALTHENABLED: "true " },
    says: [/is "true ", but must be true, 1, yes/],
  },
  { name: "words for seconds", environment: { TYPHA_SERVERPINGINTERVALSECS: "10s" }, says: [/a number of seconds/] },
  { name: "NaN", environment: { TYPHA_SERVERPINGINTERVALSECS: "NaN" }, says: [/a number of seconds/] },
  {
    name: "none where there must be a value",
    environment: { TYPHA_DATASTORETYPE: "none" },
    says: [/TYPHA_DATASTORETYPE .* is none, but it must have a value: one of kubernetes, etcdv3/],
  },
  { name: "a host with a path", environment: { TYPHA_HEALTHHOST: "http://x" }, says: [/a host name or address/] },
  { name: "an IPv6 authority, as in the original", environment: { TYPHA_ETCDADDR: "[::1]:2379" }, says: [/host:port/] },
  {
    name: "an endpoint with a path",
    environment: { TYPHA_ETCDENDPOINTS: "http://a:1,http://b:1/v3" },
    says: [/"http:\/\/b:1\/v3" is not of that form/],
  },
  {
    name: "an endpoint with a user",
    environment: { TYPHA_ETCDENDPOINTS: "http://me:pw@b:1" },
    says: [/^(?!.*pw).*"http:\/\/<redacted>@b:1" is not of that form/],
  },
  {
    name: "a proxy of another kind, whose password is not shown",
    environment: { TYPHA_DATASTORETYPE: "kubernetes", HTTPS_PROXY: "ftp://me:pw@proxy:21" },
    says: [/^HTTPS_PROXY \(environment\) is "ftp:\/\/<redacted>@proxy:21", but must be a proxy's URL/],
  },
  {
    name: "a value in the file, with its line",
    file: "\nHealthPort = x\n",
    says: [/^HealthPort \(\/etc\/calico\/typha.cfg, line 2\) is "x"/],
  },
  { name: "a broken file", file: "HealthPort", says: [/typha.cfg cannot be read as settings: line 1/] },
  {
    name: "everything at once",
    environment: { TYPHA_SERVERPORT: "x", TYPHA_HEALTHPORT: "y" },
    file: "LogSeverityScreen=loud",
    says: [/TYPHA_SERVERPORT/, /LogSeverityScreen/, /TYPHA_HEALTHPORT/],
  },
  {
    name: "an empty datastore flag",
    environment: { TYPHA_DATASTORETYPE: "kubernetes", K8S_INSECURE_SKIP_TLS_VERIFY: "" },
    says: [/K8S_INSECURE_SKIP_TLS_VERIFY .* is "", but must be 1, t/],
  },
  {
    name: "an empty number for the Kubernetes API that rebalancing asks",
    environment: { TYPHA_CONNECTIONREBALANCINGMODE: "kubernetes", K8S_CLIENT_QPS: "" },
    says: [/K8S_CLIENT_QPS .* is ""/],
  },
  {
    name: "a datastore nobody knows, and what it may have needed",
    environment: { TYPHA_DATASTORETYPE: "kubernets", K8S_CLIENT_QPS: "" },
    says: [/TYPHA_DATASTORETYPE/, /K8S_CLIENT_QPS .* is ""/],
  },
  { name: "an old TLS version", environment: { TLS_MIN_VERSION: "1.1" }, says: [/TLS_MIN_VERSION .* one of 1.2, 1.3/] },
  {
    name: "a file that does not exist",
    environment: { TYPHA_ETCDCAFILE: "/missing" },
    says: [/TYPHA_ETCDCAFILE .* "\/missing", but must be the path of a file that exists/],
  },
  {
    name: "a directory datastore without its folder",
    environment: { TYPHA_DATASTORETYPE: "directory" },
    says: [/TYPHA_DATASTOREDIRECTORY/],
  },
  {
    name: "a directory datastore whose folder does not exist, once",
    environment: { TYPHA_DATASTORETYPE: "directory", TYPHA_DATASTOREDIRECTORY: "/missing" },
    says: [/^TYPHA_DATASTOREDIRECTORY .* "\/missing", but must be the path of a folder that exists/],
  },
  {
    name: "a TLS file that does not exist, and not that its set is incomplete",
    environment: {
      TYPHA_CAFILE: "/missing",
      TYPHA_SERVERCERTFILE: "/exists/typha.crt",
      TYPHA_SERVERKEYFILE: "/exists/typha.key",
      TYPHA_CLIENTCN: "calico-node",
    },
    says: [/^TYPHA_CAFILE .* "\/missing", but must be the path of a file that exists/],
  },
  { name: "etcd without an address", environment: { TYPHA_ETCDADDR: "none" }, says: [/needs TYPHA_ETCDADDR/] },
  {
    name: "metrics TLS without a key",
    environment: { TYPHA_PROMETHEUSMETRICSCERTFILE: "/x" },
    says: [/missing: TYPHA_PROMETHEUSMETRICSKEYFILE/],
  },
  {
    name: "a secret is not shown",
    environment: { TYPHA_ETCDPASSWORD: "hunter\n2" },
    says: [/TYPHA_ETCDPASSWORD \(environment\) is <redacted>/],
  },
];
for (const { name, environment = {}, file, says } of wrong) {
  test(`settings refused: ${name}`, () => {
    const { problems } = read(environment, file);
    equal(problems.length, says.length, problems.join("\n"));
    for (const [at, pattern] of says.entries()) match(problems[at] ?? "", pattern);
  });
}

// Every proper subset of the TLS settings is refused; only none at all and the complete sets pass.
const tlsNames = ["SERVERKEYFILE", "SERVERCERTFILE", "CAFILE", "CLIENTCN", "CLIENTURISAN"];
test("TLS settings: of 32 combinations only none and the complete ones are accepted", () => {
  for (let mask = 0; mask < 32; mask++) {
    const chosen = tlsNames.filter((_, bit) => mask & (1 << bit));
    const { problems } = read(Object.fromEntries(chosen.map((name) => [`TYPHA_${name}`, "/exists"])));
    const isComplete = (mask & 7) === 7 && mask > 7;
    equal(problems.length === 0, mask === 0 || isComplete, chosen.join());
    if (problems.length > 0) {
      const [, missing = ""] = problems[0]?.split("missing:") ?? [];
      for (const name of tlsNames.slice(0, 3)) equal(missing.includes(`TYPHA_${name}`), !chosen.includes(name), name);
    }
  }
});

const warned: { name: string; environment?: Environment; file?: string; says?: RegExp }[] = [
  {
    name: "a slip gets the nearest name",
    environment: { TYPHA_SERVERPROT: "1" },
    says: /"TYPHA_SERVERPROT" \(the environment\) is not a setting.*did you mean TYPHA_SERVERPORT\?/,
  },
  {
    name: "an underscore inside a name",
    environment: { TYPHA_SERVER_PORT: "1" },
    says: /did you mean TYPHA_SERVERPORT/,
  },
  {
    name: "something quite else gets no guess",
    environment: { TYPHA_QQQQQQQQQQQQQQQQQQQ: "1" },
    says: /see docs\/reference/,
  },
  { name: "an unknown key in the file", file: "MetadataAddr = None", says: /"MetadataAddr" \(.*line 1\)/ },
  { name: "Kubernetes' service host", environment: { TYPHA_SERVICE_HOST: "10.0.0.1" } },
  {
    name: "Kubernetes' service port",
    environment: { TYPHA_SERVICE_PORT: "5473", TYPHA_SERVICE_PORT_CALICO_TYPHA: "5473" },
  },
  {
    name: "Kubernetes' links",
    environment: {
      TYPHA_PORT: "tcp://10.0.0.1:5473",
      TYPHA_PORT_5473_TCP: "x",
      TYPHA_PORT_5473_TCP_ADDR: "x",
      CALICO_TYPHA_PORT_5473_TCP_PROTO: "tcp",
    },
  },
  { name: "the early log severity", environment: { TYPHA_EARLYLOGSEVERITYSCREEN: "debug" } },
  {
    name: "another datastore type without effect",
    environment: { DATASTORE_TYPE: "kubernetes" },
    says: /DATASTORE_TYPE is "kubernetes" and has no effect/,
  },
  {
    name: "plain etcd endpoints without effect",
    environment: { ETCD_ENDPOINTS: "http://a:1" },
    says: /ETCD_ENDPOINTS has no effect.*TYPHA_ETCDENDPOINTS/,
  },
  {
    name: "a wrong value about the Kubernetes API, where the datastore is another",
    environment: { K8S_CLIENT_QPS: "" },
    says: /K8S_CLIENT_QPS .* is "", but must be .* \(it has no effect: the datastore is etcdv3\)/,
  },
  {
    name: "a proxy of another kind that nothing goes through",
    environment: {
      TYPHA_DATASTORETYPE: "memory",
      TYPHA_CONNECTIONREBALANCINGMODE: "kubernetes",
      HTTP_PROXY: "ftp://p",
    },
    says: /HTTP_PROXY .* \(it has no effect: the datastore is memory\)/,
  },
  {
    name: "a wrong value that is overridden",
    environment: { TYPHA_HEALTHPORT: "1" },
    file: "HealthPort=x",
    says: /HealthPort .* \(it is overridden\)/,
  },
];
for (const { name, environment = {}, file, says } of warned) {
  test(`settings ${says === undefined ? "without" : "with"} a warning: ${name}`, () => {
    const { warnings, problems } = read(environment, file);
    deepEqual(problems, []);
    equal(warnings.length, says === undefined ? 0 : 1, warnings.join("\n"));
    if (says !== undefined) match(warnings[0] ?? "", says);
  });
}

test("__proto__ and friends are unknown names like any other", () => {
  const { warnings, values } = read(
    JSON.parse('{"TYPHA___PROTO__":"1","TYPHA_CONSTRUCTOR":"1"}'),
    "__proto__=1\nconstructor=2",
  );
  equal(warnings.length, 4);
  equal(values.serverPort, 5473);
});

test("every setting has names, and no two share one", () => {
  const names = settingNames.flatMap((name): readonly string[] => settingsTable[name].env);
  equal(new Set(names).size, names.length);
  for (const name of settingNames) ok(settingsTable[name].says.endsWith("."), name);
});
