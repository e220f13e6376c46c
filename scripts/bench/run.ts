/**
 * Runs the benchmarks named as arguments, or all of them: `npm run bench`, `npm run bench -- validation queue`. With `--smoke`, each one
 * measures for about a second only, to show that it works. It fails if one fails or prints no table.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { assertNode } from '../node-version.mjs'
import { withSharedServer } from './support/database.ts'
import { smoke, smokeOption } from './support/effort.ts'
import { faultOf } from './support/verdict.ts'

/** Every script of this folder but this one. */
const benchmarks = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts') && file !== 'run.ts').map((file) =>
  file.slice(0, -'.ts'.length)
)

/** The time limit of a short run in milliseconds. */
const timeout = 600_000

assertNode()
const given = process.argv.slice(2).filter((argument) => argument !== smokeOption)
const unknown = given.find((name) => !benchmarks.includes(name))
if (unknown === undefined) {
  const names = given.length > 0 ? given : benchmarks
  await (smoke ? withSharedServer((env) => runAll(names, env)) : runAll(names, {}))
} else {
  console.error(`There is no benchmark "${unknown}"; there are ${benchmarks.join(', ')}.`)
  process.exitCode = 1
}

/**
 * Full runs are one after the other, so that each has the machine for itself. Short runs measure nothing, wait for their programs more than
 * they work, and run together, on one database server.
 */
async function runAll (names: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const rest = names.values()
  const failed: string[] = []
  await Promise.all(Array.from({ length: smoke ? 2 * availableParallelism() : 1 }, async () => {
    for (const name of rest) {
      const fault = await run(name, env)
      if (fault !== undefined) failed.push(`${name} ${fault}`)
    }
  }))
  console.log(
    failed.length === 0 ? `${names.length} benchmarks ran` : `${failed.length} of ${names.length} benchmarks failed: ${failed.join(', ')}`
  )
  if (failed.length > 0) process.exitCode = 1
}

/** Runs one benchmark, and shows its output when it has ended. */
async function run (name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const began = performance.now()
  const script = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, smoke ? [script, smokeOption] : [script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...(smoke ? { timeout } : {})
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [code] = await once(child, 'close') as [number | null]
  console.log(`== ${name} (${Math.round((performance.now() - began) / 1000)} s)\n${output}`)
  return faultOf({ code, output })
}
