import { runConformance } from '@dispatch/conformance'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { memoryLog } from '../../../../test/fixtures/providers/call.ts'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { createSandbox } from '../provider.ts'

const providers = fileURLToPath(new URL('../../../../providers', import.meta.url))

const withPackage = (folder: string): boolean => existsSync(join(providers, folder, 'package.json'))

/**
 * Of the providers that run in the service, and pass the kit there (`test/conformance.test.ts`), those that hand something of their own
 * through the walls: files, signatures of events and later documents, values that they keep, and a mail server. Those of the community run
 * outside alone.
 */
const tried = ['disk', 'docusign', 'simulator', 'smtp', ...globSync('community/*/', { cwd: providers }).filter(withPackage).sort()]
const others = globSync('*/', { cwd: providers }).filter((folder) => withPackage(folder) && !tried.includes(folder.replace(/\/$/, '')))
  .sort()

t.setTimeout(600_000)
// Most of a run is waiting for answers that do not come: four wait at once.
t.jobs = 4

const log = memoryLog()
const sandbox = await createSandbox({ cache: await directory(t), log, maxProcesses: 40 })
t.teardown(() => sandbox.close())

await Promise.all(tried.map((folder) =>
  t.test(`${folder} keeps the contract in a process of its own`, { buffered: true }, async (t) => {
    const { cases } = await runConformance(join(providers, folder), { load: sandbox.load })
    for (const { rule, name, status, why } of cases) {
      if (status === 'skipped') t.pass(`${rule}: ${name}`, { skip: why ?? true })
      else t.equal(status, 'passed', `${rule}: ${name}${why === undefined ? '' : `\n${why}`}`)
    }
    t.ok(cases.length > 20)
  })
))

await t.test('the other providers load in processes of their own, with what they declare', async (t) => {
  for (const folder of others) {
    const { manifest } = await sandbox.load(join(providers, folder), folder, 60)
    t.equal(manifest.code, folder)
  }
  t.ok(others.length > 5)
})
