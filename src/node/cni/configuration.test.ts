// The network configuration, and what stands in for what it leaves out.
import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import type { JsonRecord } from "../../base/lib/index.ts";
import { readNetworkConfiguration } from "./configuration.ts";

const kubernetes = { type: "kubernetes", streamLists: false, clientQps: -1, apiGroup: "crd.projectcalico.org/v1" };
const cases: { name: string; given: JsonRecord; variables?: { [name: string]: string }; datastore: JsonRecord }[] = [
  { name: "nothing is said: Kubernetes", given: {}, datastore: kubernetes },
  {
    name: "a kubeconfig wins over the variable",
    given: { datastore_type: "kubernetes", kubernetes: { kubeconfig: "/a" } },
    variables: { KUBECONFIG: "/b", K8S_API_ENDPOINT: "https://api" },
    datastore: { ...kubernetes, kubeconfig: "/a", apiEndpoint: "https://api" },
  },
  {
    name: "endpoints alone mean etcd",
    given: { etcd_endpoints: "http://a:1, http://b:2" },
    datastore: { type: "etcdv3", endpoints: ["http://a:1", "http://b:2"], tls: {} },
  },
  {
    name: "etcd by variables, with certificates and a user",
    given: { datastore_type: "etcdv3", etcd_ca_cert_file: "/ca" },
    variables: { ETCD_ENDPOINTS: "https://a:1", ETCD_USERNAME: "u", ETCD_PASSWORD: "p", ETCD_CA_CERT_FILE: "/other" },
    datastore: {
      type: "etcdv3",
      endpoints: ["https://a:1"],
      tls: { caFile: "/ca" },
      auth: { username: "u", password: "p" },
    },
  },
  {
    name: "the old words for an endpoint",
    given: { datastore_type: "etcdv3", etcd_scheme: "https", etcd_authority: "a:1" },
    datastore: { type: "etcdv3", endpoints: ["https://a:1"], tls: {} },
  },
  {
    name: "etcd by a domain",
    given: { datastore_type: "etcdv3", etcd_discovery_srv: "example.org" },
    variables: { ETCD_DISCOVERY_SRV: "other.example.org" },
    datastore: { type: "etcdv3", endpoints: [], tls: {}, discoveryDomain: "example.org" },
  },
  {
    name: "etcd by a domain that a variable names",
    given: { datastore_type: "etcdv3" },
    variables: { ETCD_DISCOVERY_SRV: "example.org" },
    datastore: { type: "etcdv3", endpoints: [], tls: {}, discoveryDomain: "example.org" },
  },
  {
    name: "limits of requests",
    given: { qps: 20, burst: 40 },
    variables: { K8S_CLIENT_QPS: "1", K8S_CLIENT_BURST: "2" },
    datastore: { ...kubernetes, clientQps: 20, clientBurst: 40 },
  },
  {
    name: "limits of requests by variables",
    given: {},
    variables: { K8S_CLIENT_QPS: "1.5", K8S_CLIENT_BURST: "2" },
    datastore: { ...kubernetes, clientQps: 1.5, clientBurst: 2 },
  },
  {
    name: "parts of a kubeconfig, one by one",
    given: {
      kubernetes: { kubeconfig: "/a", k8s_api_root: "https://one" },
      policy: {
        k8s_api_root: "https://two",
        k8s_auth_token: "t",
        k8s_client_certificate: "/cert",
        k8s_client_key: "/key",
        k8s_certificate_authority: "/ca",
      },
    },
    variables: { K8S_API_TOKEN: "other" },
    datastore: {
      ...kubernetes,
      kubeconfig: "/a",
      apiEndpoint: "https://one",
      apiToken: "t",
      certFile: "/cert",
      keyFile: "/key",
      caFile: "/ca",
    },
  },
  {
    name: "another group of Calico's objects",
    given: { calico_api_group: "projectcalico.org/v3" },
    variables: { CALICO_API_GROUP: "crd.projectcalico.org/v1" },
    datastore: { ...kubernetes, apiGroup: "projectcalico.org/v3" },
  },
  {
    name: "a folder",
    given: { datastore_type: "directory", datastore_directory: "/objects" },
    datastore: { type: "directory", path: "/objects" },
  },
  {
    name: "a folder by variables",
    given: {},
    variables: { DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: "/objects" },
    datastore: { type: "directory", path: "/objects" },
  },
];
for (const { name, given, variables = {}, datastore } of cases)
  test(`datastore: ${name}`, () => deepEqual(readNetworkConfiguration(given, variables).datastore(), datastore));

const refused: { name: string; given: JsonRecord; says: RegExp }[] = [
  { name: "etcd without endpoints", given: { datastore_type: "etcdv3" }, says: /^no etcd endpoints specified$/ },
  {
    name: "etcd by endpoints and by a domain",
    given: { etcd_endpoints: "http://a:1", etcd_discovery_srv: "example.org" },
    says: /^multiple discovery or bootstrap options specified/,
  },
  { name: "a folder without a path", given: { datastore_type: "directory" }, says: /datastore_directory/ },
  { name: "a type that nobody knows", given: { datastore_type: "consul" }, says: /unknown datastore type: consul/ },
];
for (const { name, given, says } of refused)
  test(`datastore: ${name} is refused`, () =>
    throws(() => readNetworkConfiguration(given, {}).datastore(), { code: 999, message: says }));

test("a field of another type is refused", () => {
  throws(
    () => readNetworkConfiguration({ nodename: 7 }, {}),
    /cannot unmarshal number .* NetConf.nodename of type string/,
  );
  throws(() => readNetworkConfiguration({ runtimeConfig: 7 }, {}), /NetConf.RuntimeConfig of type types.RuntimeConfig/);
  const given = { datastore_type: "directory", datastore_directory: 7 };
  throws(() => readNetworkConfiguration(given, {}).datastore(), /datastore_directory must be a text, and is 7/);
});

test("families are asked for by texts, and namespaces are read where there is a cluster", () => {
  const plain = readNetworkConfiguration({}, {});
  deepEqual([plain.ipam.assignIpv4, plain.ipam.assignIpv6, plain.kubernetes], [true, false, undefined]);
  const asked = { ipam: { assign_ipv4: "false", assign_ipv6: "true" }, policy: { type: "k8s" } };
  const both = readNetworkConfiguration(asked, {});
  deepEqual([both.ipam.assignIpv4, both.ipam.assignIpv6, both.kubernetes !== undefined], [false, true, true]);
});
