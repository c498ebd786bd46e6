import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { datastoreOptions } from "./datastore-options.ts";
import type { ClientConfig } from "./settings.ts";

const srv = async (domain: string) => [`https://one.${domain}:2379`];
const options = (config: ClientConfig, more: { context?: string; env?: { [name: string]: string } } = {}) =>
  datastoreOptions({ config, env: {}, ...more }, srv);

const kubernetes = {
  type: "kubernetes",
  streamLists: false,
  readsAgain: 10,
  allowExec: true,
  allowProxy: true,
  clientQps: -1,
};
const opened: { name: string; config: ClientConfig; context?: string; env?: { [name: string]: string }; is: object }[] =
  [
    { name: "nothing is said: Kubernetes", config: {}, is: kubernetes },
    {
      name: "endpoints mean etcd",
      config: { etcdEndpoints: "http://a:1, http://b:2" },
      is: { type: "etcdv3", endpoints: ["http://a:1", "http://b:2"], tls: {} },
    },
    { name: "a folder means a folder", config: { datastoreDirectory: "/d" }, is: { type: "directory", path: "/d" } },
    {
      name: "a context of the command line comes first",
      config: { kubeconfig: "/k", k8sCurrentContext: "file" },
      context: "typed",
      is: { ...kubernetes, kubeconfig: "/k", currentContext: "typed" },
    },
    {
      name: "all that can be said of an API server",
      config: {
        kubeconfigInline: "text",
        k8sAPIEndpoint: "https://a",
        k8sKeyFile: "/key",
        k8sCertFile: "/cert",
        k8sCAFile: "/ca",
        k8sAPIToken: "token",
        k8sInsecureSkipTLSVerify: "T",
        k8sClientQPS: "20",
        k8sClientBurst: "40",
        calicoAPIGroup: "projectcalico.org/v3",
      },
      env: { HTTPS_PROXY: "http://proxy:1", no_proxy: "a" },
      is: {
        ...kubernetes,
        kubeconfigInline: "text",
        apiEndpoint: "https://a",
        keyFile: "/key",
        certFile: "/cert",
        caFile: "/ca",
        apiToken: "token",
        insecureSkipTlsVerify: true,
        clientQps: 20,
        clientBurst: 40,
        apiGroup: "projectcalico.org/v3",
        httpsProxy: "http://proxy:1",
        noProxy: "a",
      },
    },
    {
      name: "etcd with files and a user",
      config: {
        datastoreType: "etcdv3",
        etcdEndpoints: "https://a:1",
        etcdKeyFile: "/key",
        etcdCertFile: "/cert",
        etcdCACertFile: "/ca",
        etcdUsername: "me",
        etcdPassword: "pw",
      },
      is: {
        type: "etcdv3",
        endpoints: ["https://a:1"],
        tls: { keyFile: "/key", certFile: "/cert", caFile: "/ca" },
        auth: { username: "me", password: "pw" },
      },
    },
    {
      name: "a user without a password is none",
      config: { etcdEndpoints: "http://a:1", etcdUsername: "me" },
      is: { type: "etcdv3", endpoints: ["http://a:1"], tls: {} },
    },
    {
      name: "etcd by a domain, with certificates in the file itself",
      config: { datastoreType: "etcdv3", etcdDiscoverySrv: "test", etcdCert: "cert", etcdKey: "key", etcdCACert: "ca" },
      is: {
        type: "etcdv3",
        endpoints: ["https://one.test:2379"],
        tls: { inline: { ca: "ca", cert: "cert", key: "key" } },
      },
    },
  ];
for (const { name, config, is, ...more } of opened)
  test(`opened: ${name}`, async () => deepEqual(await options(config, more), is));

const refused: { config: ClientConfig; says: string | RegExp }[] = [
  { config: { datastoreType: "redis" }, says: "unknown datastore type: redis" },
  { config: { datastoreType: "Kubernetes" }, says: "unknown datastore type: Kubernetes" },
  { config: { datastoreType: "etcdv3" }, says: "no etcd endpoints specified" },
  { config: { datastoreType: "etcdv3", etcdEndpoints: " , " }, says: "no etcd endpoints specified" },
  {
    config: { etcdEndpoints: "http://a:1", etcdDiscoverySrv: "test" },
    says: 'multiple discovery or bootstrap options specified, use either "etcdEndpoints" or "etcdDiscoverySrv"',
  },
  {
    config: { etcdEndpoints: "http://a:1", etcdKey: "key", etcdCertFile: "/cert" },
    says: "Cannot mix inline certificate-key and certificate / key files",
  },
  { config: { datastoreType: "directory" }, says: /DATASTORE_DIRECTORY/ },
];
for (const { config, says } of refused)
  test(`refused: ${JSON.stringify(config)}`, () => rejects(options(config), { name: "ConfigProblem", message: says }));
