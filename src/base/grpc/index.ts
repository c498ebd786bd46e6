// gRPC over Node's own HTTP/2, and protobuf without its compiler: what a client needs, and nothing of anybody's services.
export {
  askOnce,
  GrpcCall,
  GrpcConnection,
  type GrpcListener,
  type GrpcMetadata,
  type GrpcOptions,
} from "./connection.ts";
export { ProtobufError, ProtobufReader, type ProtobufValue, protobuf } from "./protobuf.ts";
export { GrpcError, grpcStatus } from "./status.ts";
