// The settings of the original: every parameter with its name, default and format. Where the original has a second
// default for what `none` leaves at zero, it stands here too (whenNotPositive), so that no other file has one.
import {
  authority,
  bool,
  choice,
  endpoints,
  existingFile,
  hostAddress,
  integer,
  oneOf,
  parametersWith,
  path,
  seconds,
  string,
  strings,
  variable,
} from "../../base/config/index.ts";

export const prefix = "TYPHA_";
const parameter = parametersWith(prefix);

const port = integer({ min: 0, max: 65535 });
const count = integer({ min: 1 });
const severity = oneOf("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL");

export const serverSettings = {
  serverHost: parameter("server", "ServerHost", {
    type: hostAddress,
    default: "",
    says: "Address to serve clients on; empty means every address.",
  }),
  serverPort: parameter("server", "ServerPort", {
    type: port,
    default: 5473,
    whenNotPositive: 5473,
    says: "Port to serve clients on.",
  }),
  snapshotCacheMaxBatchSize: parameter("server", "SnapshotCacheMaxBatchSize", {
    type: count,
    default: 100,
    whenNotPositive: 100,
    says: "Accepted for compatibility; it has no effect. ServerMaxMessageSize limits the size of a message.",
  }),
  serverMaxMessageSize: parameter("server", "ServerMaxMessageSize", {
    type: count,
    default: 100,
    whenNotPositive: 100,
    says: "Largest number of keys in one message to a client.",
  }),
  serverMaxFallBehindMs: parameter("server", "ServerMaxFallBehindSecs", {
    type: seconds,
    default: 300_000,
    whenNotPositive: 300_000,
    says: "How far a client may fall behind before the log reports it. The client stays connected; the updates it missed are merged.",
  }),
  serverNewClientFallBehindGraceMs: parameter("server", "ServerNewClientFallBehindGracePeriod", {
    type: seconds,
    default: 300_000,
    whenNotPositive: 300_000,
    says: "Grace period after a client's snapshot. A client that falls behind in this time is counted in typha_connections_grace_used.",
  }),
  serverMinBatchingAgeThresholdMs: parameter("server", "ServerMinBatchingAgeThresholdSecs", {
    type: seconds,
    default: 10,
    whenNotPositive: 100,
    says: "Base time for batching. A busy server collects updates for 0.3 times (low load) to 10 times (high load) this long, then sends them together.",
  }),
  serverPingIntervalMs: parameter("server", "ServerPingIntervalSecs", {
    type: seconds,
    default: 10_000,
    whenNotPositive: 10_000,
    says: "Time between pings to a client.",
  }),
  serverPongTimeoutMs: parameter("server", "ServerPongTimeoutSecs", {
    type: seconds,
    default: 60_000,
    says: "How long a client may take to answer a ping before it is disconnected. A value of up to twice ServerPingIntervalSecs is too short and is replaced by six times that interval.",
  }),
  serverHandshakeTimeoutMs: parameter("server", "ServerHandshakeTimeoutSecs", {
    type: seconds,
    default: 10_000,
    whenNotPositive: 10_000,
    says: "How long a client may take for the TLS handshake and its first message.",
  }),
  serverWriteTimeoutMs: parameter("server", "ServerWriteTimeoutSecs", {
    type: seconds,
    default: 120_000,
    whenNotPositive: 120_000,
    says: "How long a client may read nothing while data waits for it, before it is disconnected.",
  }),
  shutdownTimeoutMs: parameter("server", "ShutdownTimeoutSecs", {
    type: seconds,
    default: 300_000,
    whenNotPositive: 300_000,
    says: "Longest duration of a shutdown. Connections are closed one by one within this time.",
  }),
  shutdownConnectionDropIntervalMaxMs: parameter("server", "ShutdownConnectionDropIntervalMaxSecs", {
    type: seconds,
    default: 1_000,
    whenNotPositive: 1_000,
    says: "Longest time between two connections that a shutdown closes.",
  }),
} as const;

export const tlsSettings = {
  serverKeyFile: parameter("tls", "ServerKeyFile", {
    type: existingFile,
    default: "",
    says: "The server's private key.",
  }),
  serverCertFile: parameter("tls", "ServerCertFile", {
    type: existingFile,
    default: "",
    says: "The server's certificate.",
  }),
  caFile: parameter("tls", "CAFile", {
    type: existingFile,
    default: "",
    says: "The CA certificates that clients' certificates must chain to.",
  }),
  clientCn: parameter("tls", "ClientCN", {
    type: string,
    default: "",
    says: "Common name that a client's certificate must have.",
  }),
  clientUriSan: parameter("tls", "ClientURISAN", {
    type: string,
    default: "",
    says: "URI SAN that a client's certificate must have. If ClientCN is set too, one of the two is enough.",
  }),
  tlsMinVersion: variable("tls", ["TLS_MIN_VERSION"], {
    type: choice("1.2", "1.2", "1.3"),
    default: "1.2",
    says: "Lowest TLS version.",
  }),
  tlsCipherSuites: variable("tls", ["TLS_CIPHER_SUITES"], {
    type: strings,
    default: [],
    says: "Cipher suites for TLS 1.2, by IANA name; unset means the same list as calico/typha.",
  }),
} as const;

export const etcdSettings = {
  etcdAddr: parameter("datastore", "EtcdAddr", {
    type: authority,
    default: "127.0.0.1:2379",
    says: "Address of etcd; ignored if EtcdEndpoints is set.",
  }),
  etcdScheme: parameter("datastore", "EtcdScheme", {
    type: oneOf("http", "https"),
    default: "http",
    says: "Scheme for EtcdAddr.",
  }),
  etcdEndpoints: parameter("datastore", "EtcdEndpoints", {
    type: endpoints,
    default: [],
    says: "Addresses of etcd, as URLs.",
  }),
  etcdKeyFile: parameter("datastore", "EtcdKeyFile", {
    type: existingFile,
    default: "",
    says: "Private key for etcd.",
  }),
  etcdCertFile: parameter("datastore", "EtcdCertFile", {
    type: existingFile,
    default: "",
    says: "Certificate for etcd.",
  }),
  etcdCaFile: parameter("datastore", "EtcdCaFile", {
    type: existingFile,
    default: "",
    says: "CA certificates that etcd's certificate must chain to.",
  }),
} as const;

export const logSettings = {
  logFilePath: parameter("log", "LogFilePath", {
    type: path,
    default: "/var/log/calico/typha.log",
    says: "File to log to; `none` for no file.",
  }),
  logSeverityFile: parameter("log", "LogSeverityFile", {
    type: severity,
    default: "INFO",
    says: "Lowest severity that is logged to the file; `none` for nothing.",
  }),
  logSeverityScreen: parameter("log", "LogSeverityScreen", {
    type: severity,
    default: "INFO",
    says: "Lowest severity that is logged to standard output; `none` for nothing.",
  }),
  logSeveritySys: parameter("log", "LogSeveritySys", {
    type: severity,
    default: "INFO",
    says: "Lowest severity that is logged to syslog; `none` for nothing.",
  }),
  earlyLogSeverityScreen: variable("log", ["TYPHA_EARLYLOGSEVERITYSCREEN"], {
    type: oneOf("panic", "fatal", "error", "warn", "warning", "info", "debug", "trace"),
    default: "",
    says: "Lowest severity that is logged to standard output before the settings are read; unset means the value of LogSeverityScreen, or error.",
  }),
  debugDisableLogDropping: parameter("log", "DebugDisableLogDropping", {
    type: bool,
    default: false,
    says: "If the log destination is slow, keep up to 10,000 lines (instead of 100) before lines are dropped.",
  }),
} as const;

const clientAuth = choice(
  "NoClientCert",
  "RequireAndVerifyClientCert",
  "RequireAnyClientCert",
  "VerifyClientCertIfGiven",
  "NoClientCert",
);

export const observeSettings = {
  healthEnabled: parameter("health and metrics", "HealthEnabled", {
    type: bool,
    default: false,
    says: "Serve /liveness and /readiness.",
  }),
  healthHost: parameter("health and metrics", "HealthHost", {
    type: hostAddress,
    default: "localhost",
    says: "Address of the probes.",
  }),
  healthPort: parameter("health and metrics", "HealthPort", { type: port, default: 9098, says: "Port of the probes." }),
  prometheusMetricsEnabled: parameter("health and metrics", "PrometheusMetricsEnabled", {
    type: bool,
    default: false,
    says: "Serve /metrics.",
  }),
  prometheusMetricsHost: parameter("health and metrics", "PrometheusMetricsHost", {
    type: hostAddress,
    default: "",
    says: "Address of the metrics; empty means every address.",
  }),
  prometheusMetricsPort: parameter("health and metrics", "PrometheusMetricsPort", {
    type: port,
    default: 9093,
    says: "Port of the metrics.",
  }),
  prometheusGoMetricsEnabled: parameter("health and metrics", "PrometheusGoMetricsEnabled", {
    type: bool,
    default: true,
    says: "Include metrics of the runtime (nodejs_*; in calico/typha go_*).",
  }),
  prometheusProcessMetricsEnabled: parameter("health and metrics", "PrometheusProcessMetricsEnabled", {
    type: bool,
    default: true,
    says: "Include metrics of the process (process_*).",
  }),
  prometheusMetricsCaFile: parameter("health and metrics", "PrometheusMetricsCAFile", {
    type: string,
    default: "",
    says: "CA certificates for client certificates on the metrics port.",
  }),
  prometheusMetricsCertFile: parameter("health and metrics", "PrometheusMetricsCertFile", {
    type: string,
    default: "",
    says: "Certificate for the metrics port; if it is set, metrics are served over HTTPS.",
  }),
  prometheusMetricsKeyFile: parameter("health and metrics", "PrometheusMetricsKeyFile", {
    type: string,
    default: "",
    says: "Private key for the metrics port.",
  }),
  prometheusMetricsClientAuth: parameter("health and metrics", "PrometheusMetricsClientAuth", {
    type: clientAuth,
    default: "NoClientCert",
    says: "Whether a client of the metrics port must show a certificate.",
  }),
} as const;

export const rebalancingSettings = {
  connectionRebalancingMode: parameter("rebalancing", "ConnectionRebalancingMode", {
    type: choice("none", "none", "kubernetes"),
    default: "none",
    says: "Whether to balance clients between the servers of a Kubernetes Service.",
  }),
  connectionDropIntervalMs: parameter("rebalancing", "ConnectionDropIntervalSecs", {
    type: seconds,
    default: 1_000,
    whenNotPositive: 1_000,
    says: "Time between two connections that are closed for balance.",
  }),
  maxConnectionsUpperLimit: parameter("rebalancing", "MaxConnectionsUpperLimit", {
    type: count,
    default: 10_000,
    whenNotPositive: 2 ** 31 - 1,
    says: "Largest number of connections of one server.",
  }),
  maxConnectionsLowerLimit: parameter("rebalancing", "MaxConnectionsLowerLimit", {
    type: count,
    default: 400,
    says: "No connection is closed for balance below this number of connections.",
  }),
  k8sServicePollIntervalMs: parameter("rebalancing", "K8sServicePollIntervalSecs", {
    type: seconds,
    default: 30_000,
    whenNotPositive: 30_000,
    says: "How often the endpoints of the Service are read.",
  }),
  k8sNamespace: parameter("rebalancing", "K8sNamespace", {
    type: string,
    default: "kube-system",
    says: "Namespace of the Service.",
  }),
  k8sServiceName: parameter("rebalancing", "K8sServiceName", {
    type: string,
    default: "calico-typha",
    says: "Name of the Service.",
  }),
  k8sPortName: parameter("rebalancing", "K8sPortName", {
    type: string,
    default: "calico-typha",
    says: "Name of the port of the Service.",
  }),
} as const;

export const debugSettings = {
  debugHost: parameter("debug", "DebugHost", {
    type: hostAddress,
    default: "localhost",
    says: "Address of the debug endpoints.",
  }),
  debugPort: parameter("debug", "DebugPort", {
    type: port,
    default: 0,
    says: "Port of the debug endpoints; 0 switches them off.",
  }),
  debugMemoryProfilePath: parameter("debug", "DebugMemoryProfilePath", {
    type: path,
    default: "",
    says: "File to which SIGUSR1 writes a heap snapshot; the first <timestamp> in the name is replaced by the time.",
  }),
} as const;
