/** Runs the benchmarks named as arguments, or all of them, one after the other: `npm run bench -- validation`. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { assertNode } from '../node-version.mjs'

const benchmarks = ['pdf', 'formats', 'e-invoice', 'validation', 'dispatch', 'intake', 'queue', 'growth', 'start', 'hostile']

assertNode()
const given = process.argv.slice(2)
const unknown = given.find((name) => !benchmarks.includes(name))
if (unknown === undefined) {
  for (const name of given.length > 0 ? given : benchmarks) run(name)
} else {
  console.error(`There is no benchmark "${unknown}"; there are ${benchmarks.join(', ')}.`)
  process.exitCode = 1
}

function run (name: string): void {
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL(`${name}.ts`, import.meta.url))], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
