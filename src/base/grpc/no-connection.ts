// Why nobody spoke gRPC at an address, in words that name it and say what to do. What a library says of it ("Protocol
// error", "wrong version number") tells nobody that a port is the wrong one.
import { GrpcError, grpcStatus } from "./status.ts";

type Server = { readonly url: string; readonly serverName: string };
type Advice = string | ((serverName: string) => string);

const noGrpc: Advice = (serverName) => `what answers there does not speak gRPC as ${serverName} does; check the port`;
const noTls = "what answers there does not speak TLS; check the port, or write http://";
const otherCa: Advice = (serverName) => `check that the CA file is that of ${serverName}`;
const hungUp = "the connection was closed before a word was said";

const adviceByCode: { readonly [code: string]: Advice } = {
  ERR_HTTP2_ERROR: noGrpc,
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: noGrpc,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: "it wants a client certificate and got none",
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: "it refuses our TLS, or wants a client certificate and got none",
  ERR_TLS_CERT_ALTNAME_INVALID: "name it as its certificate does, or give it a certificate with this name",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: otherCa,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: otherCa,
  SELF_SIGNED_CERT_IN_CHAIN: otherCa,
  DEPTH_ZERO_SELF_SIGNED_CERT: otherCa,
};

/** Of a call on a connection over which the other side never spoke. */
export function explainNoConnection(error: unknown, { url, serverName }: Server): GrpcError {
  const { says, code } = seen(error);
  const advice = adviceFor(says === hungUp && url.startsWith("http:"), code, serverName);
  const problem = says.includes(new URL(url).host) ? says : `${url}: ${says}`;
  const message = advice === undefined ? problem : `${problem}: ${advice}`;
  return new GrpcError(grpcStatus.unavailable, message, { cause: error });
}

// A server that is starting or stopping hangs up, and so does one that wants TLS and gets none.
function adviceFor(isNoTls: boolean, code: string, serverName: string): string | undefined {
  if (isNoTls) return `is it ${serverName}'s client port, and does it want https://?`;
  const advice = adviceByCode[code];
  return typeof advice === "function" ? advice(serverName) : advice;
}

function seen(error: unknown): { says: string; code: string } {
  if (!(error instanceof Error)) return { says: String(error), code: "" };
  const code = "code" in error ? String(error.code) : "";
  if (error instanceof GrpcError || code === "ECONNRESET") return { says: hungUp, code };
  // OpenSSL's own words are among places in its source; Node has them by themselves as well.
  const reason = "reason" in error && code.startsWith("ERR_SSL_") ? String(error.reason) : undefined;
  return { says: reason ?? error.message, code };
}
