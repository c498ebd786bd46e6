// What a session's `protocol bgp` says in the same words in BIRD 1.6 and in BIRD 2.
import type { Session } from "../model/intent.ts";

export function hopOptions({ ttlSecurity }: Session): readonly string[] {
  return ttlSecurity === undefined ? ["multihop;"] : [`multihop ${ttlSecurity};`, "ttl security on;"];
}

export function sessionOptions(session: Session): readonly string[] {
  const { restartSeconds, keepaliveSeconds, isPassive, clusterId, password } = session;
  return [
    ...(restartSeconds === undefined ? [] : [`graceful restart time ${restartSeconds};`]),
    "connect delay time 2;",
    "connect retry time 5;",
    "error wait time 5, 30;",
    ...(keepaliveSeconds === undefined ? [] : [`keepalive time ${keepaliveSeconds};`]),
    ...(isPassive ? ["passive on;"] : []),
    ...(clusterId === undefined ? [] : ["rr client;", `rr cluster id ${clusterId};`]),
    ...(password === undefined ? [] : [`password "${password}";`]),
  ];
}
