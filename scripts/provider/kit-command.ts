#!/usr/bin/env node
/**
 * The command of the kit where it is installed from its tarball: `dispatch-conformance [<folder>]` checks a provider, by default the one in
 * the working directory, and prints the report. The exit code is 1 when a case failed.
 */
import { countOf, formatReport, runConformanceInChild } from '@dispatch/conformance/command'

const report = await runConformanceInChild(process.argv[2] ?? '.')
console.log(formatReport(report))
if (countOf(report).failed > 0) process.exitCode = 1
