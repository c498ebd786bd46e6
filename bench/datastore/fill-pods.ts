// Puts many pods into a cluster without kubelets, quickly: one pod goes through the API server, and copies of what it
// stored, under other names, go straight into etcd, where the API server finds them (it reads JSON as well as protobuf).

import { setTimeout as sleep } from "node:timers/promises";
import { credentials, Client as GrpcClient } from "@grpc/grpc-js";
import type { Cluster } from "../../test/kit/cluster.ts";

const podsPerNode = 100;
const podsPerNamespace = 1000;
const podsPerTransaction = 100;

export async function fillPods(cluster: Cluster, count: number): Promise<void> {
  const template = JSON.stringify(await realPod(cluster));
  const etcd = new GrpcClient(
    (cluster.etcd.members[0]?.url ?? "").replace("http://", ""),
    credentials.createInsecure(),
  );
  try {
    let next = 0;
    const work = async () => {
      for (let from = next; from < count; from = next) {
        next = Math.min(count, from + podsPerTransaction);
        const puts: Buffer[] = [];
        for (let i = from; i < next; i++) puts.push(putRequest(...nthPod(template, i)));
        await transact(etcd, puts);
      }
    };
    await Promise.all([work(), work(), work(), work()]);
  } finally {
    etcd.close();
  }
  while (!(await hasCaughtUp(cluster))) await sleep(500);
}

// The API server's memory follows etcd at its own pace; until it is there, reads from it are refused.
async function hasCaughtUp(cluster: Cluster): Promise<boolean> {
  const { status, body } = await cluster.ask("GET", "/api/v1/pods?limit=1");
  if (status !== 200) return false;
  const { resourceVersion }: { resourceVersion: string } = JSON.parse(body).metadata;
  const fresh = `limit=1&resourceVersionMatch=NotOlderThan&resourceVersion=${resourceVersion}`;
  return (await cluster.ask("GET", `/api/v1/namespaces/bench-0/pods?${fresh}`)).status === 200;
}

/** A pod as a Deployment makes it and a kubelet runs it, with all that an API server adds. */
async function realPod(cluster: Cluster): Promise<object> {
  const pods = "/api/v1/namespaces/default/pods";
  const made = (await cluster.must("POST", `${pods}?fieldManager=kube-controller-manager`, {
    metadata: {
      name: "template-pod-name",
      labels: { app: "web", "pod-template-hash": "5d4f8c7b9", tier: "frontend" },
      annotations: {
        "cni.projectcalico.org/podIP": "10.0.0.1/32",
        "cni.projectcalico.org/containerID": "c".repeat(64),
      },
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d4f8c7b9", uid: "u-1", controller: true },
      ],
    },
    spec: {
      nodeName: "template-node",
      serviceAccountName: "default",
      containers: [
        {
          name: "web",
          image: "registry.example/web:1.2.3",
          ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
          env: [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
          resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
          readinessProbe: { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 5 },
        },
      ],
      volumes: [{ name: "data", emptyDir: {} }],
    },
  })) as object;
  const at = "2026-01-02T03:04:05Z";
  const conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => {
    return { type, status: "True", lastTransitionTime: at };
  });
  const status = {
    phase: "Running",
    hostIP: "192.0.2.1",
    podIP: "10.0.0.1",
    podIPs: [{ ip: "10.0.0.1" }],
    startTime: at,
    conditions,
    containerStatuses: [
      {
        name: "web",
        ready: true,
        restartCount: 0,
        image: "registry.example/web:1.2.3",
        imageID: `registry.example/web@sha256:${"a".repeat(64)}`,
        containerID: `containerd://${"c".repeat(64)}`,
        state: { running: { startedAt: at } },
      },
    ],
  };
  const path = `${pods}/template-pod-name`;
  const running = (await cluster.must("PUT", `${path}/status?fieldManager=kubelet`, { ...made, status })) as {
    metadata: { resourceVersion?: string };
  };
  await cluster.must("DELETE", path, { gracePeriodSeconds: 0 });
  const { resourceVersion: _, ...metadata } = running.metadata; // etcd's own revision is the version
  return { apiVersion: "v1", kind: "Pod", ...running, metadata };
}

function nthPod(template: string, i: number): [key: string, value: string] {
  const namespace = `bench-${Math.floor(i / podsPerNamespace)}`;
  const name = `web-5d4f8c7b9-${i.toString(36).padStart(5, "0")}`;
  const uid = `00000000-0000-4000-8000-${i.toString(16).padStart(12, "0")}`;
  const address = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
  const value = template
    .replaceAll("template-pod-name", name)
    .replaceAll("template-node", `node-${Math.floor(i / podsPerNode)}`)
    .replaceAll("10.0.0.1", address)
    .replace(/"namespace":"default"/, `"namespace":"${namespace}"`)
    .replace(/"uid":"[0-9a-f-]{36}"/, `"uid":"${uid}"`);
  return [`/registry/pods/${namespace}/${name}`, value];
}

// etcdserverpb by hand: three messages of length-delimited fields need no generated code.
function putRequest(key: string, value: string): Buffer {
  return field(2, field(2, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))])));
}

function field(number: number, bytes: Buffer): Buffer {
  const head: number[] = [(number << 3) | 2];
  let left = bytes.length;
  for (; left > 127; left >>>= 7) head.push((left & 127) | 128);
  head.push(left);
  return Buffer.concat([Buffer.from(head), bytes]);
}

function transact(etcd: GrpcClient, puts: Buffer[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const same = (bytes: Buffer) => bytes;
    const done = (error: unknown) => (error ? reject(error) : resolve());
    etcd.makeUnaryRequest("/etcdserverpb.KV/Txn", same, same, Buffer.concat(puts), done);
  });
}
