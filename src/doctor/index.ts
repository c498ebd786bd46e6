// `cattail doctor`: checks that explain themselves, before a server starts and after. Reads, asks and listens; changes
// nothing.
export { catalogue, type FindingCode, findingCodes, type Level } from "./catalogue.ts";
export { checkPorts, type WantedPort, wantedPorts } from "./check-ports.ts";
export { checkRights, usesOf } from "./check-rights.ts";
export { checkSettings } from "./check-settings.ts";
export { checkTlsFiles } from "./check-tls-files.ts";
export {
  type BeforeOptions,
  examineServers,
  examineSetup,
  type ServersExamination,
  type ServersOptions,
} from "./examine.ts";
export { exitCodeOf, type Finding, type Problem, type Section } from "./finding.ts";
export { doctorPage } from "./page.ts";
export { reportJson, reportText } from "./report.ts";
