import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path/posix'
import { isLong, isLongFor } from '../../test/long-tier.ts'
import { reachOf } from '../mutate/reach.ts'
import { type Imports, readImports } from './imports.ts'

/** What may matter to every test, or to how tests are run: settings, scripts, migrations, and what many tests share. */
const everywhere = /^(?!.*\.md$)([^/]+$|.*\/package\.json$|\.ci\/|scripts\/|test\/(support|fixtures)\/|test\/[^/]+$|.*\/migrations\/)/

/** What belongs to tests. */
const ofTests = /(^|\/)test\//

/**
 * The files that put the service together: they import all of it, and each test that starts it imports them. What a test reaches through
 * them alone is not what it is for.
 */
const whole: readonly string[] = ['core/index.ts', 'plugins/container.ts', 'plugins/app.ts', 'test/support/service.ts']

/** Of the tests that start the whole service, so many run for each changed file, and so many for all. */
const [likeliest, likeliestOfAll] = [12, 48]

/**
 * What is said of all services: a change of one of them would reach each file that asks for their names. The tests of services follow them
 * all the same.
 */
const ofServices: readonly string[] = ['all', 'lists', 'names'].map((name) => `core/packages/services/${name}.ts`)

/** Clients in several languages dispatch through the whole service. */
const journey = 'test/e2e/clients.test.ts'

/** The test files that a change of these files reaches. Undefined if the change may matter to every test. */
export type Reached = (changed: readonly string[]) => string[] | undefined

/**
 * Of `tests`, those that a change of files of the tree at `root` reaches. They import one of the files, though not by way of what puts the
 * whole service together. Of those that start the whole service, the likeliest to notice the change by their words. In the second tier,
 * those that are for what has changed. And one journey.
 */
export function reachedIn (root: string, tests: readonly string[]): Reached {
  const imports = readImports(root)
  const near = new Map(tests.map((test) => [test, filesNear(test, imports)]))
  const isNear = (test: string, file: string): boolean => near.get(test)?.has(file) === true
  const likely = reachOf(root, imports)
  return (changed) => {
    const readers = changed.map(readersOf)
    if (readers.includes(undefined)) return undefined
    const guesses = changed.filter((file) => imports.files.includes(file))
      .map((file) => likely(file, 1).filter((test) => !isLong(test) && !isNear(test, file)).slice(0, likeliest))
    const guessed = Array.from({ length: likeliest }, (_, rank) => guesses.flatMap((tests) => tests[rank] ?? [])).flat()
    const chosen = new Set([journey, ...[...new Set(guessed)].slice(0, likeliestOfAll)])
    for (const [index, file] of changed.entries()) {
      for (const test of tests) {
        const isReached = isLong(test) ? isLongFor(test, file) || (ofTests.test(file) && isNear(test, file)) : isNear(test, file)
        if (isReached || readers[index]?.(test, file, root) === true) chosen.add(test)
      }
    }
    return tests.filter((test) => chosen.has(test))
  }
}

/** Whether a test reads a changed file without importing it. */
type Reads = (test: string, file: string, root: string) => boolean

/** Undefined where it is not known who reads a file. */
function readersOf (file: string): Reads | undefined {
  if (everywhere.test(file)) return undefined
  if (file.endsWith('.md')) return (test, page, root) => readFileSync(join(root, test), 'utf8').includes(basename(page))
  if (file.startsWith('providers/')) return (test) => test.startsWith('test/providers/')
  if (file.startsWith('templates/')) return (test) => test.startsWith('test/templates/')
  return /\.(ts|mts|mjs|js)$/.test(file) ? () => false : undefined
}

/** What a file imports, also by way of others, but for what puts everything together: that is reached, and what it imports is not. */
function filesNear (file: string, imports: Imports): ReadonlySet<string> {
  const ends = file.includes('/services/') ? whole : [...whole, ...ofServices]
  const near = new Set([file])
  for (const reached of near) if (!ends.includes(reached)) { for (const next of imports.of(reached)) near.add(next) }
  return near
}
