// The settings that are about the agent itself: where its data comes from, and what an operator sees of it.
import {
  authority,
  bool,
  choice,
  endpoints,
  existingFolder,
  hostAddress,
  integer,
  oneOf,
  path,
  seconds,
  string,
} from "../../base/config/index.ts";
import { group, row } from "./row.ts";
import { durationsByName, hostName, regularExpression, serverAddress } from "./value-types.ts";

const port = integer({ min: 0, max: 65_535 });
const severity = oneOf("TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL");
const local = { isLocal: true } as const;

export const identitySettings = group("This node", {
  FelixHostname: row({
    ...local,
    type: hostName,
    default: "",
    nonZero: true,
    says: "Name of this node, as its Node object has it. Unset means NODENAME, then HOSTNAME, then the system's host name in small letters.",
  }),
});

export const typhaSettings = group("Typha", {
  TyphaAddr: row({
    ...local,
    type: serverAddress,
    default: "",
    // Without it the node would read the datastore itself, and with it each node of the cluster.
    isFatal: true,
    says: "Address of a Typha, as HOST:PORT; has priority over the Service.",
  }),
  TyphaK8sServiceName: row({
    ...local,
    type: string,
    default: "",
    says: "Service whose endpoints are the Typhas. With neither this nor TyphaAddr the agent reads the datastore itself.",
  }),
  TyphaK8sNamespace: row({
    ...local,
    type: string,
    default: "kube-system",
    nonZero: true,
    says: "Namespace of that Service.",
  }),
  TyphaReadTimeout: row({
    ...local,
    type: seconds,
    default: 30_000,
    says: "How long Typha may be silent before the connection counts as lost.",
  }),
  TyphaWriteTimeout: row({ ...local, type: seconds, default: 10_000, says: "How long a write to Typha may take." }),
  // Not "a file that exists": certificates may be put in place after the agent has started.
  TyphaKeyFile: row({ ...local, type: path, default: "", says: "Private key for Typha." }),
  TyphaCertFile: row({ ...local, type: path, default: "", says: "Certificate for Typha." }),
  TyphaCAFile: row({ ...local, type: path, default: "", says: "CA that Typha's certificate must chain to." }),
  TyphaCN: row({ ...local, type: string, default: "", says: "Common name that Typha's certificate must have." }),
  TyphaURISAN: row({
    ...local,
    type: string,
    default: "",
    says: "URI SAN that Typha's certificate must have. If TyphaCN is set too, one of the two is enough. Key, certificate, CA and a name are set together, or none of them.",
  }),
});

export const datastoreSettings = group("Datastore", {
  DatastoreType: row({
    ...local,
    type: oneOf("kubernetes", "etcdv3", "directory"),
    default: "",
    isFatal: true,
    says: "Type of the datastore. Unset means DATASTORE_TYPE; without that, etcdv3 or directory where their address is set, else kubernetes. `directory` exists in Cattail only.",
  }),
  DatastoreDirectory: row({
    ...local,
    type: existingFolder,
    default: "",
    says: "Folder for the datastore type `directory`; unset means DATASTORE_DIRECTORY (Cattail only).",
  }),
  EtcdAddr: row({
    ...local,
    type: authority,
    default: "127.0.0.1:2379",
    says: "Address of etcd, unless EtcdEndpoints or ETCD_ENDPOINTS is set.",
  }),
  EtcdScheme: row({ ...local, type: oneOf("http", "https"), default: "http", says: "Scheme for EtcdAddr." }),
  EtcdEndpoints: row({
    ...local,
    type: endpoints,
    default: [],
    says: "Addresses of etcd, as URLs; unset means ETCD_ENDPOINTS.",
  }),
  EtcdKeyFile: row({ ...local, type: path, default: "", says: "Private key for etcd; unset means ETCD_KEY_FILE." }),
  EtcdCertFile: row({ ...local, type: path, default: "", says: "Certificate for etcd; unset means ETCD_CERT_FILE." }),
  EtcdCaFile: row({
    ...local,
    type: path,
    default: "",
    says: "CA of etcd's certificate; unset means ETCD_CA_CERT_FILE.",
  }),
});

export const logSettings = group("Log", {
  LogFilePath: row({
    type: path,
    default: "/var/log/calico/felix.log",
    isFatal: true,
    says: "File to log to; `none` for no file. CALICO_DISABLE_FILE_LOGGING=true also means no file.",
  }),
  LogSeverityFile: row({
    type: severity,
    default: "INFO",
    says: "Lowest severity that is logged to the file; `none` for nothing.",
  }),
  LogSeverityScreen: row({
    type: severity,
    default: "INFO",
    says: "Lowest severity that is logged to standard output; `none` for nothing.",
  }),
  LogSeveritySys: row({
    type: severity,
    default: "INFO",
    says: "Lowest severity that is logged to syslog; `none` for nothing.",
  }),
  LogDebugFilenameRegex: row({
    type: regularExpression,
    default: undefined,
    says: "Debug lines only from source files whose names match; unset means from all.",
  }),
  LogFormat: row({
    ...local,
    type: choice("original", "original", "json"),
    default: "original",
    says: "Format of log lines (Cattail only).",
  }),
  DebugDisableLogDropping: row({
    type: bool,
    default: false,
    says: "If the log destination is slow, keep up to 10,000 lines (instead of 100) before lines are dropped.",
  }),
});

export const healthSettings = group("Probes and metrics", {
  HealthEnabled: row({ type: bool, default: false, says: "Serve /liveness and /readiness." }),
  HealthHost: row({ type: hostAddress, default: "localhost", says: "Address of the probes." }),
  HealthPort: row({ type: port, default: 9099, says: "Port of the probes." }),
  HealthTimeoutOverrides: row({
    type: durationsByName,
    default: new Map(),
    says: "How long a component may be silent before it counts as not live.",
  }),
  ReadinessRule: row({
    type: choice("Strict", "Strict", "Original"),
    default: "Strict",
    says: "Strict: ready only if every part of the agent says that what it was told is in force, routes and BGP sessions included. Original: only what calico/node looks at counts, which is that the data was in sync once and that packet rules were applied (Cattail only).",
  }),
  PrometheusMetricsEnabled: row({ type: bool, default: false, says: "Serve /metrics." }),
  PrometheusMetricsHost: row({
    type: hostAddress,
    default: "",
    says: "Address of the metrics; empty means every address.",
  }),
  PrometheusMetricsPort: row({ type: port, default: 9091, says: "Port of the metrics." }),
  PrometheusGoMetricsEnabled: row({
    type: bool,
    default: true,
    says: "Include metrics of the runtime (nodejs_*; in Felix go_*).",
  }),
  PrometheusProcessMetricsEnabled: row({
    type: bool,
    default: true,
    says: "Include metrics of the process (process_*).",
  }),
  PrometheusMetricsCAFile: row({
    type: string,
    default: "",
    says: "CA certificates for client certificates on the metrics port.",
  }),
  PrometheusMetricsCertFile: row({
    type: string,
    default: "",
    says: "Certificate for the metrics port; if it is set, metrics are served over HTTPS.",
  }),
  PrometheusMetricsKeyFile: row({ type: string, default: "", says: "Private key for the metrics port." }),
  PrometheusMetricsClientAuth: row({
    type: choice(
      "NoClientCert",
      "RequireAndVerifyClientCert",
      "RequireAnyClientCert",
      "VerifyClientCertIfGiven",
      "NoClientCert",
    ),
    default: "NoClientCert",
    says: "Whether a client of the metrics port must show a certificate.",
  }),
  EndpointStatusPathPrefix: row({
    type: path,
    default: "/var/run/calico",
    says: "Folder below which endpoint-status/ says of each endpoint that its rules are in force; `none` for no files.",
  }),
  ReportingIntervalSecs: row({
    type: seconds,
    default: 30_000,
    says: "How often the agent says that it lives; 0 for never.",
  }),
});

export const auditSettings = group("Cattail's own", {
  IPAMAuditInterval: row({
    type: seconds,
    default: 0,
    says: "How often the addresses of the cluster are looked through for leaks and contradictions, which then stand in log and metrics; 0 for never. One node is enough (Cattail only).",
  }),
  IPAMAuditMends: row({
    type: bool,
    default: false,
    says: "Whether that audit also mends what can be mended while the cluster is at work (Cattail only).",
  }),
  ReportEnabled: row({
    ...local,
    type: bool,
    default: false,
    says: "Answer a Cattail Typha that asks how this node is: health, version, BGP sessions, routes, packets by rule. Its dashboard shows it. Over mutual TLS, with the files and names for Typha (Cattail only).",
  }),
  ReportHost: row({
    ...local,
    type: hostAddress,
    default: "",
    says: "Address of that report; empty means every address. Without TLS files for Typha only a loopback address is opened (Cattail only).",
  }),
  ReportPort: row({ ...local, type: port, default: 9096, says: "Port of that report (Cattail only)." }),
  DropSamplesPerSecond: row({
    type: integer({ min: 0, max: 1_000 }),
    default: 0,
    says: "How many denied packets a second, of each rule, `cattail node drops` is shown; 0 for none (Cattail only).",
  }),
});

export const clusterSettings = group("From ClusterInformation", {
  ClusterGUID: row({
    type: string,
    default: "baddecaf",
    says: "Unique name of the cluster; comes from ClusterInformation.",
  }),
  ClusterType: row({ type: string, default: "", says: "Kinds of the cluster; comes from ClusterInformation." }),
  CalicoVersion: row({
    type: string,
    default: "",
    says: "Version of Calico that the cluster names; comes from ClusterInformation.",
  }),
  Variant: row({ type: string, default: "Calico", says: "Comes from ClusterInformation." }),
});
