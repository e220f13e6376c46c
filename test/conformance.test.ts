import { runConformance } from '@dispatch/conformance'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const providers = fileURLToPath(new URL('../providers', import.meta.url))
const folders = globSync('*/', { cwd: providers }).filter((folder) => existsSync(join(providers, folder, 'package.json'))).sort()

// Thousands of calls, each with connections of its own (milliseconds).
t.setTimeout(1_200_000)

/** Webhooks bring at least as many cases along. */
const inherited = 30

// Most of a run is waiting for answers that do not come: eight wait at once.
t.jobs = 8

await Promise.all(folders.map((folder) =>
  t.test(`${folder} keeps the contract`, { buffered: true }, async (t) => {
    const { cases } = await runConformance(join(providers, folder))
    for (const { rule, name, status, why } of cases) {
      if (status === 'skipped') t.pass(`${rule}: ${name}`, { skip: why ?? true })
      else t.equal(status, 'passed', `${rule}: ${name}${why === undefined ? '' : `\n${why}`}`)
    }
    if (cases.some(({ rule }) => rule === 'webhook')) t.ok(cases.length >= inherited)
  })
))
