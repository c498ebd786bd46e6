// CHECK: whether what ADD made is still there. The original says yes without looking.
import { withAnyCidrs } from "./cluster-facts.ts";
import { EndpointError } from "./endpoint-error.ts";
import type { EndpointEdge, EndpointRequest } from "./request.ts";
import { readIpamAnswer } from "./result.ts";

/** The datastore is asked by IPAM's check alone. Throws what is missing. */
export async function check(request: EndpointRequest, edge: EndpointEdge): Promise<void> {
  const { network, ipam } = edge;
  const { hostSide, netns, ifname, configuration, settings } = request;
  const previous = configuration.prevResult;
  const addresses = previous === undefined || previous === null ? [] : readIpamAnswer(previous).addresses;
  const missing = await network.missing({ hostSide, netns, ifname, addresses }, edge);
  if (missing.length > 0) {
    throw new EndpointError(missing.join("; "), { next: "delete the pod, so that it is made again" });
  }
  if (settings.ipamType !== "") await ipam.check(withAnyCidrs(configuration));
}
