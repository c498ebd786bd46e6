// What an operator sees of the process: log, metrics, health, and the HTTP servers that show them.
export { type HttpHandler, type HttpOptions, type HttpServer, startHttp } from "./http-server.ts";
