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

const renewServer = "cattail certs renew --dir DIR, then put the new pair in place: the server takes it up by itself";

export const catalogue = {
  SETTINGS_INVALID: {
    level: "broken",
    title: "a setting has a value it cannot have, or settings contradict each other",
    why: "the server refuses to start",
    fix: "the finding says where the value comes from; docs/reference/settings.md what it may be",
  },
  SETTINGS_FILE_UNREADABLE: {
    level: "broken",
    title: "the configuration file cannot be read",
    why: "the server refuses to start rather than run with other settings than those in the file",
    fix: "check the path and its permissions, or leave out --config-file",
  },
  SETTINGS_WARNING: {
    level: "warning",
    title: "a name that is no setting, or a value without effect",
    why: "whoever set it expects something that does not happen",
    fix: "correct the name (the nearest is named), or remove it",
  },
  SETTINGS_PLAINTEXT: {
    level: "warning",
    title: "the server would run without TLS",
    why: "anyone who reaches its port can read every policy, address and label of the cluster",
    fix: "cattail certs all --dir certs, then set the four variables it prints",
  },
  TLS_FILE_UNREADABLE: {
    level: "broken",
    title: "a certificate, key or CA file cannot be read",
    why: "no connection can be made without it",
    fix: "check that it is mounted where the setting says and readable by this user: ls -l FILE",
  },
  TLS_CERTIFICATE_INVALID: {
    level: "broken",
    title: "a file holds no certificate that can be read",
    why: "no connection can be made without it",
    fix: "cattail certs inspect FILE shows what it holds; it must be PEM",
  },
  TLS_KEY_INVALID: {
    level: "broken",
    title: "the key file holds no private key that can be read",
    why: "no connection can be made without it",
    fix: "it must be an unencrypted PEM key; openssl pkey -in FILE -out FILE.plain removes a passphrase",
  },
  TLS_KEY_MISMATCH: {
    level: "broken",
    title: "certificate and key do not belong together",
    why: "every handshake fails",
    fix: "put both files of one pair in place; cattail certs renew --dir DIR makes a new pair",
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
    why: "every peer refuses it until then; often a clock is wrong",
    fix: "date -u on this machine and on the one that made the certificate; then cattail certs renew --dir DIR",
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
    why: "no certificate chains to it any more, so everyone is refused",
    fix: "cattail certs init --dir NEW, issue new pairs from it, and serve with both CAs in one file while nodes change over",
  },
  TLS_CA_EXPIRES_SOON: {
    level: "warning",
    title: "a CA expires within 30 days",
    why: "on that day everyone whose certificate it issued is refused",
    fix: "cattail certs init --dir NEW, issue new pairs from it, and serve with both CAs in one file while nodes change over",
  },
  TLS_CA_PARTLY_UNREADABLE: {
    level: "warning",
    title: "the CA file holds a certificate that cannot be read",
    why: "whoever that CA issued a certificate to is refused",
    fix: "put the whole certificate in, from a BEGIN line to an END line that start their lines; cattail certs inspect FILE shows what can be read",
  },
  TLS_CA_NO_ROOT: {
    level: "broken",
    title: "the server's CA file holds no self-signed root",
    why: "chains must end in one, so every client is refused",
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
    title: "others than its owner and its group may read a private key",
    why: "whoever reads it can pose as this server or node",
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
    title: "a port the server needs is taken",
    why: "the server cannot start",
    fix: 'ss -ltnp "sport = :PORT" names who has it; if it is the server itself, check it with --server',
  },
  PORT_FORBIDDEN: {
    level: "broken",
    title: "this user may not open a port the server needs",
    why: "the server cannot start",
    fix: "choose a port from 1024 up, or grant the capability NET_BIND_SERVICE",
  },
  PORT_ADDRESS: {
    level: "broken",
    title: "the address to listen on is not one of this machine's",
    why: "the server cannot start",
    fix: "ip -brief address lists the addresses there are; an empty host means all of them",
  },
  PORT_CLASH: {
    level: "broken",
    title: "two settings ask for the same port",
    why: "the second to start fails",
    fix: "give one of them another port",
  },
  DATASTORE_SETTINGS: {
    level: "broken",
    title: "the datastore cannot be opened with these settings",
    why: "the server refuses to start",
    fix: "see what was seen; for Kubernetes: kubectl --kubeconfig FILE cluster-info",
  },
  DATASTORE_UNREACHABLE: {
    level: "broken",
    title: "the datastore does not answer",
    why: "the server starts, but is not ready and serves nothing until it does",
    fix: "for Kubernetes: kubectl get --raw /readyz; for etcd: etcdctl endpoint health",
  },
  DATASTORE_REFUSED: {
    level: "broken",
    title: "the datastore does not accept our credentials",
    why: "the server is not ready and serves nothing until it does",
    fix: "for Kubernetes: kubectl auth whoami with the same kubeconfig or token; for etcd: check the certificate or password",
  },
  MANIFEST_PROBLEM: {
    level: "warning",
    title: "a manifest in the folder that is the datastore cannot be used, or not all of it",
    why: "a file that does not parse gives none of its objects; the others are served",
    fix: "correct the file at the line that is named; a running server reads it again at once",
  },
  CRDS_MISSING: {
    level: "broken",
    title: "the cluster has none of Calico's resource kinds",
    why: "there are no policies, pools or settings to serve: Calico is not installed here, or another cluster was meant",
    fix: "cattail manifests crds | kubectl apply -f -",
  },
  CRD_MISSING: {
    level: "warning",
    title: "the cluster lacks some of Calico's resource kinds",
    why: "they are served as empty; a cluster set up with an older Calico lacks newer kinds",
    fix: "cattail manifests crds | kubectl apply -f -",
  },
  API_MISSING: {
    level: "note",
    title: "the cluster does not have an API that can be served where it exists",
    why: "nothing is lost: it is looked for again every 30 minutes",
    fix: "nothing, unless you expected it: kubectl api-resources lists what there is",
  },
  RIGHT_MISSING: {
    level: "broken",
    title: "the server may not read a kind that carries enforcement",
    why: "nodes would let through or drop the wrong packets without it, so the server does not become ready",
    fix: "cattail manifests rbac | kubectl apply -f -",
  },
  RIGHT_MISSING_OPTIONAL: {
    level: "warning",
    title: "the server may not read an optional kind",
    why: "it is served as empty",
    fix: "cattail manifests rbac | kubectl apply -f -",
  },
  RIGHT_MISSING_SETUP: {
    level: "warning",
    title: "the server may not write what a new cluster needs once",
    why: "ClusterInformation and the built-in tiers must then be made by somebody else before anything is in sync",
    fix: "cattail manifests rbac | kubectl apply -f -",
  },
  SERVER_UNREACHABLE: {
    level: "broken",
    title: "no TCP connection to the server",
    why: "no node can connect either, unless it is on another network",
    fix: "is it running and listening there? kubectl -n kube-system get endpointslices -l kubernetes.io/service-name=calico-typha",
  },
  SERVER_NOT_TLS: {
    level: "broken",
    title: "the server does not speak TLS",
    why: "a client with certificates refuses to go on without",
    fix: "give the server its four TLS settings, or look at it with --plaintext",
  },
  SERVER_WANTS_TLS: {
    level: "broken",
    title: "the server closed a connection without TLS before its hello",
    why: "it speaks TLS only, or it is no Typha",
    fix: "give --ca, --cert and --key instead of --plaintext",
  },
  SERVER_UNTRUSTED: {
    level: "broken",
    title: "the server's certificate does not chain to our CA",
    why: "every node with this CA file refuses the server",
    fix: "use the CA that issued it; cattail certs inspect FILE shows names and fingerprints",
  },
  SERVER_CERTIFICATE_EXPIRED: {
    level: "broken",
    title: "the server's certificate is outside its dates",
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
    title: "the server's certificate has another name, or another purpose, than we ask for",
    why: "nodes that ask for the same refuse the server",
    fix: "set FELIX_TYPHACN or FELIX_TYPHAURISAN (here: --server-cn, --server-uri) to its name, or issue another certificate",
  },
  CLIENT_REFUSED: {
    level: "broken",
    title: "the server refused our certificate",
    why: "nodes with the same certificate are refused too",
    fix: "it must chain to TYPHA_CAFILE, be in date, allow clientAuth, and have TYPHA_CLIENTCN or TYPHA_CLIENTURISAN; the server's log says which failed",
  },
  TLS_HANDSHAKE: {
    level: "broken",
    title: "the TLS handshake failed",
    why: "no node can connect",
    fix: "compare TLS_MIN_VERSION and TLS_CIPHER_SUITES on both sides; the server's log has its half of the story",
  },
  SERVER_REFUSED_HELLO: {
    level: "broken",
    title: "the server closed the connection after our hello",
    why: "it does not serve this syncer, or refuses clients of this version; or it is shutting down or full",
    fix: "the server's log says why; try --type felix, or --legacy-keys for a server up to v3.31",
  },
  SERVER_PROTOCOL: {
    level: "broken",
    title: "the server said something the protocol does not allow",
    why: "clients leave when they hear it",
    fix: "check that it is a Typha at all; if it is, please report what is shown here",
  },
  SERVER_SILENT: {
    level: "broken",
    title: "the server did not send its hello or its snapshot in time",
    why: "clients wait 30 s for a message and then leave for another server",
    fix: "look at its CPU and at its log; --timeout gives it more time",
  },
  SERVER_NOT_IN_SYNC: {
    level: "broken",
    title: "the server is not in sync with its datastore",
    why: "nodes keep what they have and wait; new nodes program nothing",
    fix: "cattail doctor on the server's machine, or its /readiness, says what it waits for",
  },
  SERVER_EMPTY: {
    level: "warning",
    title: "the server is in sync and has not one key",
    why: "even an empty cluster has some; it may look at the wrong datastore",
    fix: "cattail typha --print-settings on the server's machine shows which",
  },
  SERVERS_DIFFER_KEYS: {
    level: "broken",
    title: "servers of one cluster have different keys",
    why: "what a node enforces depends on which server it happens to follow",
    fix: "look at the datastore connection and log of the one that lacks them; restart it if it does not catch up",
  },
  SERVERS_DIFFER_VALUES: {
    level: "broken",
    title: "servers of one cluster have different values for a key at the same revision",
    why: "what a node enforces depends on which server it happens to follow; often their versions differ",
    fix: "bring all servers to one version",
  },
  SERVERS_DIFFER_REVISIONS: {
    level: "warning",
    title: "servers of one cluster are at different revisions of some keys",
    why: "one of them is behind; in a cluster that changes a little of this passes by itself",
    fix: "run again; if the same keys still differ, look at the datastore connection of the older one",
  },
  SERVERS_DIFFER_VERSIONS: {
    level: "warning",
    title: "servers of one cluster have different versions",
    why: "fine during an upgrade; afterwards one was forgotten",
    fix: "kubectl -n kube-system get pods -l k8s-app=calico-typha -o wide shows who runs what",
  },
} as const satisfies { readonly [code: string]: Entry };

export type FindingCode = keyof typeof catalogue;
export const findingCodes = Object.keys(catalogue) as FindingCode[]; // Object.keys loses the literal names
