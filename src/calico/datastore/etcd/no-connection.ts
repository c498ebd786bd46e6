// Why nobody spoke gRPC at an address, in words that name it and say what to do. What a library says of it ("Protocol
// error", "wrong version number") tells nobody that a port is the wrong one.
import { messageOf } from "../../../base/lib/index.ts";
import { GrpcError, grpcStatus } from "./grpc-status.ts";

const noGrpc = "what answers there does not speak gRPC as etcd does; check the port";
const noTls = "what answers there does not speak TLS; check the port, or write http://";
const otherCa = "check that the CA file is that of etcd";
const hungUp = "the connection was closed before a word was said";

const adviceByCode: { readonly [code: string]: string } = {
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
export function explainNoConnection(url: string, error: unknown): GrpcError {
  const { says, code } = seen(error);
  // A server that is starting or stopping hangs up, and so does one that wants TLS and gets none.
  const isNoTls = says === hungUp && url.startsWith("http:");
  const advice = isNoTls ? "is it etcd's client port, and does it want https://?" : adviceByCode[code];
  const problem = says.includes(new URL(url).host) ? says : `${url}: ${says}`;
  const message = advice === undefined ? problem : `${problem}: ${advice}`;
  return new GrpcError(grpcStatus.unavailable, message, { cause: error });
}

function seen(error: unknown): { says: string; code: string } {
  if (!(error instanceof Error)) return { says: messageOf(error), code: "" };
  const code = "code" in error ? String(error.code) : "";
  if (error instanceof GrpcError || code === "ECONNRESET") return { says: hungUp, code };
  // OpenSSL's own words are among places in its source; Node has them by themselves as well.
  const reason = "reason" in error && code.startsWith("ERR_SSL_") ? String(error.reason) : undefined;
  return { says: reason ?? error.message, code };
}
