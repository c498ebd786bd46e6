// Every problem `cattail doctor` can find: how bad it is, why it matters, and what mends it. docs/reference/doctor.md is
// made from this table. Codes are public: scripts look for them.

export type Level = "broken" | "warning" | "note";

export type Entry = {
  readonly level: Level;
  /** In general words; a finding says what was seen. */
  readonly title: string;
  readonly why: string;
  /** A command where there is one. A finding may know a better one. */
  readonly fix: string;
};

const renewServer =
  "cattail certs renew --dir DIR, then put the new pair in place; the server reloads it without a restart";

export const catalogue = {
  SETTINGS_INVALID: {
    level: "broken",
    title: "a setting has an invalid value, or two settings contradict each other",
    why: "the server refuses to start",
    fix: "change the value: the finding says where it is set, docs/reference/settings.md lists the allowed values",
  },
  SETTINGS_FILE_UNREADABLE: {
    level: "broken",
    title: "the configuration file cannot be read",
    why: "the server does not start without the settings in the file",
    fix: "check the path and the permissions of the file, or remove --config-file",
  },
  SETTINGS_WARNING: {
    level: "warning",
    title: "an unknown setting, or a value that has no effect",
    why: "the setting does not do what was intended",
    fix: "correct the name (the finding suggests one), or remove it",
  },
  SETTINGS_PLAINTEXT: {
    level: "warning",
    title: "the server would run without TLS",
    why: "anyone who can connect to its port can read every policy, address and label of the cluster",
    fix: "cattail certs all --dir certs, then set the four variables it prints",
  },
  SETTINGS_NONE: {
    level: "broken",
    title: "no datastore is configured",
    why: "without a setting the server uses an etcd on 127.0.0.1, which is hardly what was intended",
    fix: "run it with the environment of the server, or with -c FILE; for a cluster: TYPHA_DATASTORETYPE=kubernetes KUBECONFIG=FILE cattail doctor; for a running server: cattail doctor --server HOST:PORT",
  },
  TLS_FILE_UNREADABLE: {
    level: "broken",
    title: "a certificate, key or CA file cannot be read",
    why: "no connection can be made without it",
    fix: "check that it is mounted where the setting says and readable by this user: ls -l FILE",
  },
  TLS_CERTIFICATE_INVALID: {
    level: "broken",
    title: "a file contains no readable certificate",
    why: "no connection can be made without it",
    fix: "the file must be PEM; cattail certs inspect FILE shows what is in it",
  },
  TLS_KEY_INVALID: {
    level: "broken",
    title: "the key file contains no readable private key",
    why: "no connection can be made without it",
    fix: "it must be an unencrypted PEM key; openssl pkey -in FILE -out FILE.plain removes a passphrase",
  },
  TLS_KEY_MISMATCH: {
    level: "broken",
    title: "certificate and key do not belong together",
    why: "every handshake fails",
    fix: "use both files of one pair; cattail certs renew --dir DIR makes a new pair",
  },
  TLS_CERTIFICATE_EXPIRED: {
    level: "broken",
    title: "a certificate has expired",
    why: "every peer refuses it",
    fix: renewServer,
  },
  TLS_CERTIFICATE_NOT_YET_VALID: {
    level: "broken",
    title: "a certificate is not valid yet",
    why: "every peer refuses it until that time; often the cause is a wrong clock",
    fix: "compare date -u on this machine and on the one that made the certificate; then cattail certs renew --dir DIR",
  },
  TLS_CERTIFICATE_EXPIRES_SOON: {
    level: "warning",
    title: "a certificate expires within 30 days",
    why: "on that day every new connection fails",
    fix: renewServer,
  },
  TLS_CA_EXPIRED: {
    level: "broken",
    title: "every CA in the CA file has expired",
    why: "no certificate chains to a valid CA, so every client is refused",
    fix: "cattail certs init --dir NEW, issue new pairs from it, and keep both CAs in the CA file until all nodes use the new one",
  },
  TLS_CA_EXPIRES_SOON: {
    level: "warning",
    title: "a CA expires within 30 days",
    why: "on that day every certificate of this CA is refused",
    fix: "cattail certs init --dir NEW, issue new pairs from it, and keep both CAs in the CA file until all nodes use the new one",
  },
  TLS_CA_PARTLY_UNREADABLE: {
    level: "warning",
    title: "the CA file contains a certificate that cannot be read",
    why: "certificates of that CA are refused",
    fix: "put the complete certificate into the file, from its BEGIN line to its END line; cattail certs inspect FILE shows what can be read",
  },
  TLS_CA_NO_ROOT: {
    level: "broken",
    title: "the server's CA file contains no self-signed root certificate",
    why: "a chain must end in a root certificate, so every client is refused",
    fix: "add the root certificate to the file: cat root.crt >> FILE",
  },
  TLS_NO_CHAIN: {
    level: "broken",
    title: "the certificate was not issued by a CA in the CA file",
    why: "peers that trust the same CA file refuse it",
    fix: "cattail certs server --dir DIR --force issues one from the CA in DIR; or put the right CA into the file",
  },
  TLS_PURPOSE: {
    level: "broken",
    title: "the certificate's key usage or extended key usage forbids what it is used for",
    why: "peers refuse it",
    fix: "cattail certs server (or client) --dir DIR --force makes one with the right usage",
  },
  TLS_KEY_PERMISSIONS: {
    level: "warning",
    title: "users other than the owner and the group may read a private key",
    why: "everyone who reads it can impersonate this server or node",
    fix: "chmod 600 FILE; for a Kubernetes Secret set defaultMode: 0440",
  },
  TLS_UNUSUAL_NAME: {
    level: "warning",
    title: "the server's certificate does not have the name that nodes usually ask for",
    why: "nodes with FELIX_TYPHACN=calico-typha refuse it",
    fix: "cattail certs server --dir DIR --cn calico-typha --force, or set FELIX_TYPHACN on the nodes to its name",
  },
  PORT_IN_USE: {
    level: "broken",
    title: "a port that the server needs is in use",
    why: "the server cannot start",
    fix: 'ss -ltnp "sport = :PORT" shows which process uses it; if it is this server, check it with --server',
  },
  PORT_FORBIDDEN: {
    level: "broken",
    title: "this user may not open a port that the server needs",
    why: "the server cannot start",
    fix: "use a port from 1024 up, or grant the capability NET_BIND_SERVICE",
  },
  PORT_ADDRESS: {
    level: "broken",
    title: "the address to listen on does not belong to this machine",
    why: "the server cannot start",
    fix: "use an address that ip -brief address lists; an empty host means all of them",
  },
  PORT_CLASH: {
    level: "broken",
    title: "two settings have the same port",
    why: "the second one cannot open it",
    fix: "give one of them another port",
  },
  DATASTORE_SETTINGS: {
    level: "broken",
    title: "the datastore cannot be opened with these settings",
    why: "the server refuses to start",
    fix: "correct what the finding names; for Kubernetes, try kubectl --kubeconfig FILE cluster-info",
  },
  DATASTORE_UNREACHABLE: {
    level: "broken",
    title: "the datastore does not answer",
    why: "the server starts, but it is not ready and sends no data until the datastore answers",
    fix: "for Kubernetes: kubectl get --raw /readyz; for etcd: etcdctl endpoint health",
  },
  DATASTORE_REFUSED: {
    level: "broken",
    title: "the datastore does not accept our credentials",
    why: "the server is not ready and sends no data until the credentials are accepted",
    fix: "for Kubernetes: kubectl auth whoami with the same kubeconfig or token; for etcd: check the certificate or password",
  },
  MANIFEST_PROBLEM: {
    level: "warning",
    title: "a manifest in the datastore folder, or a part of it, cannot be used",
    why: "no object of a file that does not parse is served; objects of other files are",
    fix: "correct the file at the given line; a running server reads it again at once",
  },
  CRDS_MISSING: {
    level: "broken",
    title: "the cluster has none of Calico's resource kinds",
    why: "there are no policies, pools or settings to serve; Calico is not installed, or this is the wrong cluster",
    fix: "cattail manifests crds --missing | kubectl apply --server-side -f -",
  },
  CRD_MISSING: {
    level: "warning",
    title: "the cluster lacks some of Calico's resource kinds",
    why: "the server sends no objects of these kinds; a cluster with an older Calico lacks the newer kinds",
    fix: "cattail manifests crds --missing | kubectl apply --server-side -f -",
  },
  API_MISSING: {
    level: "note",
    title: "the cluster does not have an optional API",
    why: "nothing is lost; the server looks for it again every 30 minutes",
    fix: "nothing, unless you expected it; kubectl api-resources lists the APIs of the cluster",
  },
  RIGHTS_MISSING: {
    level: "broken",
    title: "the server has none of the rights that it needs",
    why: "it stays unready: the role is not bound to the account it runs as, or it asks as somebody else",
    fix: "cattail manifests rbac | kubectl apply -f -",
  },
  RIGHT_MISSING: {
    level: "broken",
    title: "the server may not read a kind that nodes need for enforcement",
    why: "without it, nodes would allow or drop the wrong packets, so the server does not become ready",
    fix: "cattail manifests rbac | kubectl apply -f -",
  },
  RIGHT_MISSING_OPTIONAL: {
    level: "warning",
    title: "the server may not read an optional kind",
    why: "the server sends no objects of this kind",
    fix: "cattail manifests rbac | kubectl apply -f -",
  },
  RIGHT_MISSING_SETUP: {
    level: "warning",
    title: "the server may not create the objects that a new cluster needs",
    why: "somebody else must then create the ClusterInformation and the built-in tiers before the server can be in sync",
    fix: "cattail manifests rbac | kubectl apply -f -",
  },
  SERVER_UNREACHABLE: {
    level: "broken",
    title: "no TCP connection to the server",
    why: "nodes on this network cannot connect either",
    fix: "check that it runs and listens there: kubectl -n kube-system get endpointslices -l kubernetes.io/service-name=calico-typha",
  },
  SERVER_NOT_TLS: {
    level: "broken",
    title: "the server does not speak TLS",
    why: "clients that are configured for TLS do not connect",
    fix: "set the four TLS settings of the server, or check it with --plaintext",
  },
  SERVER_WANTS_TLS: {
    level: "broken",
    title: "the server closed a connection without TLS before its hello",
    why: "it accepts only TLS, or it is not a Typha",
    fix: "use --ca, --cert and --key instead of --plaintext",
  },
  SERVER_UNTRUSTED: {
    level: "broken",
    title: "the server's certificate does not chain to our CA",
    why: "every node with this CA file refuses the server",
    fix: "use the CA that issued it; cattail certs inspect FILE shows names and fingerprints",
  },
  SERVER_CERTIFICATE_EXPIRED: {
    level: "broken",
    title: "the server's certificate has expired or is not valid yet",
    why: "every node refuses the server",
    fix: renewServer,
  },
  SERVER_CERTIFICATE_EXPIRES_SOON: {
    level: "warning",
    title: "the server's certificate expires within 30 days",
    why: "on that day no node can connect any more",
    fix: renewServer,
  },
  SERVER_NAME: {
    level: "broken",
    title: "the server's certificate has a different name or purpose than requested",
    why: "nodes that expect the same name refuse the server",
    fix: "set FELIX_TYPHACN or FELIX_TYPHAURISAN (here: --server-cn, --server-uri) to its name, or issue another certificate",
  },
  CLIENT_REFUSED: {
    level: "broken",
    title: "the server refused our certificate",
    why: "nodes with the same certificate are refused too",
    fix: "use a certificate that chains to TYPHA_CAFILE, is valid now, allows clientAuth, and has the name TYPHA_CLIENTCN or TYPHA_CLIENTURISAN; the server's log says which check failed",
  },
  TLS_HANDSHAKE: {
    level: "broken",
    title: "the TLS handshake failed",
    why: "no node can connect",
    fix: "compare TLS_MIN_VERSION and TLS_CIPHER_SUITES on both sides; the server's log has its reason",
  },
  SERVER_REFUSED_HELLO: {
    level: "broken",
    title: "the server closed the connection after our hello",
    why: "it does not serve this syncer or this client version, or it is shutting down, or it has too many clients",
    fix: "the server's log says why; try --type felix, or --legacy-keys for a server up to v3.31",
  },
  SERVER_PROTOCOL: {
    level: "broken",
    title: "the server sent something that the protocol does not allow",
    why: "clients disconnect when they receive it",
    fix: "check that it is a Typha; if it is, please report what is shown here",
  },
  SERVER_SILENT: {
    level: "broken",
    title: "the server did not send its hello or its snapshot in time",
    why: "clients wait 30 s for a message, then connect to another server",
    fix: "check its CPU and its log; --timeout gives it more time",
  },
  SERVER_NOT_IN_SYNC: {
    level: "broken",
    title: "the server is not in sync with its datastore",
    why: "nodes keep their last state and wait; new nodes get no policies",
    fix: "run cattail doctor on the server's machine, or read its /readiness: both say what it waits for",
  },
  SERVER_EMPTY: {
    level: "warning",
    title: "the server is in sync but has no keys",
    why: "even an empty cluster has some keys; the server may use the wrong datastore",
    fix: "cattail typha --print-settings on the server's machine shows which datastore it uses",
  },
  SERVERS_DIFFER_KEYS: {
    level: "broken",
    title: "servers of one cluster have different keys",
    why: "what a node enforces depends on the server it is connected to",
    fix: "check the datastore connection and the log of the server that lacks keys; restart it if it does not catch up",
  },
  SERVERS_DIFFER_VALUES: {
    level: "broken",
    title: "servers of one cluster have different values for a key at the same revision",
    why: "what a node enforces depends on the server it is connected to; often the versions of the servers differ",
    fix: "use the same version on all servers",
  },
  SERVERS_DIFFER_REVISIONS: {
    level: "warning",
    title: "servers of one cluster are at different revisions of some keys",
    why: "one of them is behind; in a busy cluster a short difference is normal",
    fix: "run the doctor again; if the same keys still differ, check the datastore connection of the server that is behind",
  },
  SERVERS_DIFFER_VERSIONS: {
    level: "warning",
    title: "servers of one cluster have different versions",
    why: "normal during an upgrade; after it, one server was not upgraded",
    fix: "kubectl -n kube-system get pods -l k8s-app=calico-typha -o wide shows which pod has which image",
  },
} as const satisfies { readonly [code: string]: Entry };

export type FindingCode = keyof typeof catalogue;
export const findingCodes = Object.keys(catalogue) as FindingCode[]; // Object.keys loses the literal names
