// Why two may talk or not, in words: a question as people ask it, the verdict of calico/policy, and what would change it. Pure; for whoever
// shows it: the command, the dashboard, the doctor.
export { type Answered, type Asked, answer } from "./answer.ts";
export { type Matrix, matrixOf, matrixText, namespacesWithPods } from "./matrix.ts";
export { noSources, originIn, ruleName, type Sources } from "./origin.ts";
export { type ReportOptions, reportJson, reportText, type Shown, shownOf } from "./report.ts";
export { addPod, parseSubject, type Subject, subjectForms } from "./subject.ts";
export { policyText, ruleText } from "./words.ts";
