/** `@dispatch/conformance/command`: the kit in a process of its own. It loads nothing of the core, which that process does. */
export { runConformanceInChild } from './in-child.ts'
export { conformanceRules, type ConformanceReport, type ConformanceRule, countOf, formatReport } from './report.ts'
