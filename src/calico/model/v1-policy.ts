// The policy and its rules as clients read them. Field names are those on the wire; networks are canonical texts, ports
// and protocols canonical numbers or texts (scalars.ts). Note Go's order: src_net before src_selector, but dst_selector
// before dst_net. The *_tag and singular *_net fields are never set by a server of today, and are left out.
import { always, goBool, goList, goMap, goNumber, goPointer, goString, goStruct, omitEmpty } from "./go/go-json.ts";
import { type NumberOrText, port, protocol } from "./schema/scalars.ts";

type V1HttpMatch = {
  readonly methods?: readonly string[] | undefined;
  readonly paths?: readonly { readonly exact?: string | undefined; readonly prefix?: string | undefined }[] | undefined;
};

type Ports = readonly NumberOrText[] | undefined;
type Texts = readonly string[] | undefined;

export type V1Rule = {
  readonly action?: string;
  readonly ip_version?: number | bigint | undefined;
  readonly protocol?: NumberOrText | undefined;
  readonly "!protocol"?: NumberOrText | undefined;
  readonly icmp_type?: number | bigint | undefined;
  readonly icmp_code?: number | bigint | undefined;
  readonly "!icmp_type"?: number | bigint | undefined;
  readonly "!icmp_code"?: number | bigint | undefined;
  readonly src_nets?: Texts;
  readonly src_selector?: string;
  readonly src_ports?: Ports;
  readonly src_service?: string | undefined;
  readonly src_service_ns?: string | undefined;
  readonly dst_selector?: string;
  readonly dst_nets?: Texts;
  readonly dst_ports?: Ports;
  readonly dst_service?: string | undefined;
  readonly dst_service_ns?: string | undefined;
  readonly "!src_nets"?: Texts;
  readonly "!src_selector"?: string | undefined;
  readonly "!src_ports"?: Ports;
  readonly "!dst_selector"?: string | undefined;
  readonly "!dst_nets"?: Texts;
  readonly "!dst_ports"?: Ports;
  readonly orig_src_selector?: string | undefined;
  readonly orig_src_namespace_selector?: string | undefined;
  readonly orig_dst_selector?: string | undefined;
  readonly orig_dst_namespace_selector?: string | undefined;
  readonly "!orig_src_selector"?: string | undefined;
  readonly "!orig_dst_selector"?: string | undefined;
  readonly orig_src_service_acct_names?: Texts;
  readonly orig_src_service_acct_selector?: string | undefined;
  readonly orig_dst_service_acct_names?: Texts;
  readonly orig_dst_service_acct_selector?: string | undefined;
  readonly http?: V1HttpMatch | undefined;
  readonly metadata?: { readonly annotations?: { readonly [name: string]: string } } | undefined;
};

const text = omitEmpty(goString);
const texts = omitEmpty(goList(goString));
const ports = omitEmpty(goList(port.go));
const pointer = omitEmpty(goPointer(goNumber));
const http = goStruct<V1HttpMatch>({
  methods: texts,
  paths: omitEmpty(
    goList(goStruct<{ exact?: string | undefined; prefix?: string | undefined }>({ exact: text, prefix: text })),
  ),
});

const v1Rule = goStruct<V1Rule>({
  action: text,
  ip_version: pointer,
  protocol: omitEmpty(goPointer(protocol.go)),
  "!protocol": omitEmpty(goPointer(protocol.go)),
  icmp_type: pointer,
  icmp_code: pointer,
  "!icmp_type": pointer,
  "!icmp_code": pointer,
  src_nets: texts,
  src_selector: text,
  src_ports: ports,
  src_service: text,
  src_service_ns: text,
  dst_selector: text,
  dst_nets: texts,
  dst_ports: ports,
  dst_service: text,
  dst_service_ns: text,
  "!src_nets": texts,
  "!src_selector": text,
  "!src_ports": ports,
  "!dst_selector": text,
  "!dst_nets": texts,
  "!dst_ports": ports,
  orig_src_selector: text,
  orig_src_namespace_selector: text,
  orig_dst_selector: text,
  orig_dst_namespace_selector: text,
  "!orig_src_selector": text,
  "!orig_dst_selector": text,
  orig_src_service_acct_names: texts,
  orig_src_service_acct_selector: text,
  orig_dst_service_acct_names: texts,
  orig_dst_service_acct_selector: text,
  http: omitEmpty(http),
  metadata: omitEmpty(
    goStruct<{ annotations?: { readonly [name: string]: string } }>({ annotations: omitEmpty(goMap(goString)) }),
  ),
});

export type V1Policy = {
  readonly namespace?: string;
  readonly tier: string;
  readonly order?: number | undefined;
  readonly inbound_rules?: readonly V1Rule[];
  readonly outbound_rules?: readonly V1Rule[];
  readonly selector: string;
  readonly untracked?: boolean | undefined;
  readonly pre_dnat?: boolean | undefined;
  readonly apply_on_forward?: boolean | undefined;
  readonly types?: readonly string[];
  readonly performance_hints?: readonly string[] | undefined;
  readonly staged_action?: string | undefined;
};

const flag = omitEmpty(goBool);

export const v1Policy = goStruct<V1Policy>({
  namespace: text,
  tier: text,
  order: pointer,
  inbound_rules: omitEmpty(goList(v1Rule)),
  outbound_rules: omitEmpty(goList(v1Rule)),
  selector: always(goString),
  untracked: flag,
  pre_dnat: flag,
  apply_on_forward: flag,
  types: texts,
  performance_hints: texts,
  staged_action: text,
});

export type V1ProfileRules = {
  readonly inbound_rules?: readonly V1Rule[];
  readonly outbound_rules?: readonly V1Rule[];
};

export const v1ProfileRules = goStruct<V1ProfileRules>({
  inbound_rules: omitEmpty(goList(v1Rule)),
  outbound_rules: omitEmpty(goList(v1Rule)),
});
