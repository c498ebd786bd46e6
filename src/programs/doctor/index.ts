// `cattail doctor`: checks that explain themselves, before a server starts and after. Reads, asks and listens; changes
// nothing.
export { checkRights, usesOf } from "./checks/check-rights.ts";
export { examineServers, examineSetup, type ServersOptions } from "./examine.ts";
export { exitCodeOf, type Finding, type ProblemFinding } from "./finding.ts";
export { doctorPage } from "./page.ts";
export { reportJson, reportText } from "./report.ts";
