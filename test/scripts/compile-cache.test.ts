import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../e2e/support/process.ts'

/** Whether a program and a thread of it, both in TypeScript, had to load Node's compiler of TypeScript. */
const program = `
  import { once } from 'node:events'
  import { isMainThread, parentPort, Worker } from 'node:worker_threads'
  const compiles: boolean = process.moduleLoadList.some((name: string) => name.includes('deps/amaro'))
  if (isMainThread) {
    const [inThread] = await once(new Worker(new URL(import.meta.url)), 'message')
    console.log(JSON.stringify([compiles, inThread]))
  } else parentPort?.postMessage(compiles)`

await t.test('what a start has compiled, later starts and their threads find in the data directory', (t) => {
  const folder = t.testdir({ data: {} })
  const file = join(folder, 'program.ts')
  writeFileSync(file, program)
  const run = (...options: string[]): unknown => {
    const { stdout, stderr } = spawnSync(process.execPath, [...options, file], {
      cwd: root,
      env: { DISPATCH_DATA_DIR: join(folder, 'data') },
      encoding: 'utf8'
    })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout)
  }
  const keeping = '--import=./scripts/compile-cache.mjs'
  t.same(run(keeping), [true, true])
  t.same(run(keeping), [false, false])
  t.same(run(), [true, true])
  t.end()
})
