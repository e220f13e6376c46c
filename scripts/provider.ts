/**
 * `npm run provider test <folder>` tries a provider with the conformance kit and prints its report; exit code 1 when it fails.
 */
import { resolve } from 'node:path'
import { countOf, formatReport, runConformance } from '@dispatch/core/testing'

const usage = `npm run provider test <folder>`

/** npm runs scripts in the root of the project; a folder is meant from where it was called. */
function folderOf (path: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', path)
}

async function test (folder: string): Promise<void> {
  const report = await runConformance(folder)
  console.log(formatReport(report))
  if (countOf(report).failed > 0) process.exitCode = 1
}

const [command, folder] = process.argv.slice(2)
if (command === 'test' && folder !== undefined) await test(folderOf(folder))
else {
  console.error(usage)
  process.exitCode = 2
}
