import { basename } from 'node:path/posix'

/**
 * Tests of the second tier: what takes them long (`why`), and the words in the path of a file whose change they are for (`of`), beside
 * those in their own names. `npm test` leaves them out; `npm run test:long` runs them alone, and `.ci/run` runs both tiers, or what a
 * change reaches. A path that ends in `/` is a folder. They are started in this order: what takes long comes first, so that no processor
 * waits for the last one.
 */
export const longTier: Readonly<Record<string, { why: string, of: readonly string[] }>> = {
  'core/packages/sandbox/test/conformance.test.ts': {
    why: 'providers pass the whole kit, each in a process of its own',
    of: ['sandbox', 'conformance', 'providers']
  },
  'core/packages/sandbox/test/': { why: 'processes of adapters are started, attacked and ended', of: ['sandbox'] },
  'core/packages/features/marketplace/test/': { why: 'packages are installed, and run outside', of: ['sandbox', 'marketplace'] },
  'test/sandbox/': { why: 'services run the providers of others', of: ['sandbox'] },
  'core/packages/conformance/test/zoo.test.ts': { why: 'the kit runs once for each broken provider', of: ['conformance'] },
  'core/packages/conformance/test/mutants.test.ts': { why: 'the kit runs once for each mistake of an adapter', of: ['conformance'] },
  'core/packages/conformance/test/values.test.ts': { why: 'the kit runs once for each way to harm a value', of: ['conformance'] },
  'test/conformance.test.ts': { why: 'every shipped provider passes the whole kit', of: ['conformance', 'providers', 'call'] },
  'test/crash/': { why: 'processes are killed and disturbed under load', of: ['pipeline', 'work'] },
  'test/e2e/': { why: 'each test starts the service as it is run for real', of: ['scripts'] },
  'test/scripts/provider-repository.test.ts': {
    why: 'npm installs, packs and publishes in a repository elsewhere',
    of: ['provider', 'conformance']
  },
  'test/plugins/console-journeys.test.ts': { why: 'people go through the console in a browser, with and without script', of: ['console'] },
  'test/plugins/console-browser.test.ts': { why: 'each page of the console is looked at in a browser', of: ['browser'] },
  'test/plugins/console-bad-input.test.ts': {
    why: 'each page of the console is looked at with names that are hard to show',
    of: ['browser']
  },
  'test/hostile/': { why: 'attacks, floods, stalls and random requests at length', of: ['hooks'] },
  'core/packages/conformance/test/stuck.test.ts': { why: 'the kit waits for providers that never end', of: ['conformance'] },
  'core/packages/documents/test/renderer.test.ts': { why: 'threads run into their limits of time and memory', of: ['threads'] },
  'core/packages/features/templates/test/hostile.test.ts': { why: 'templates run into their limits of time and memory', of: ['templates'] },
  'core/packages/embedded-postgres/test/embedded.test.ts': { why: 'servers are installed, killed and started again', of: ['embedded'] },
  'test/core/store/advisory-lock.test.ts': { why: 'processes prepare one database at once, again and again', of: ['database'] },
  'core/packages/database/test/database.test.ts': { why: 'statements and locks run into their limits', of: ['database'] },
  'test/core/work/away.test.ts': { why: 'the database goes away and comes back', of: ['database', 'work'] },
  'core/packages/features/vendor-events/test/flood.test.ts': { why: 'two thousand events at once', of: ['events'] },
  'test/core/work/outcomes.test.ts': { why: 'leases are lost, and the database is away', of: ['work', 'pipeline'] },
  'test/core/work/stall.test.ts': { why: 'processes stand still for longer than a lease', of: ['work'] },
  'test/docs/packages.test.ts': { why: 'each example is run as a program', of: ['packages'] },
  'test/docs/providers.test.ts': { why: 'the guide is followed, each command a program', of: ['providers', 'conformance'] },
  'test/plugins/chains-all.test.ts': { why: 'all chains of services are run', of: ['pipeline', 'services'] },
  'test/plugins/console-code.test.ts': { why: 'each example is run as a program', of: ['console'] },
  'test/plugins/deferred-documents.test.ts': { why: 'signed documents are fetched again and again', of: ['deferred'] },
  'test/plugins/storage.test.ts': { why: 'five servers make a bucket', of: ['files', 's3'] },
  'test/plugins/replica.test.ts': { why: 'a replica follows its server, falls behind and goes away', of: ['database'] },
  'test/plugins/pooler.test.ts': { why: 'two services share few connections, and one waits for a lock', of: ['database'] },
  'test/plugins/outages.test.ts': { why: 'the database is away, for reading and for writing', of: ['database'] },
  'test/scripts/': { why: 'each test starts programs', of: ['scripts'] },
  'test/templates/office.test.ts': { why: 'LibreOffice opens what is made', of: ['documents'] }
}

const paths = Object.keys(longTier)

/**
 * Tests of the second tier that have a process of their own. The kit watches and replaces functions of its process; others bring the tests
 * of further files, count its threads, memory or open files, or keep it busy for as long as four of their neighbours.
 */
const alone: readonly RegExp[] = [
  /conformance/,
  /^test\/(crash|docs|templates)\//,
  /(sandbox\/end-to-end|probes-as-user)/,
  /^test\/e2e\/(new|rolling|restore|postgresql|stop|production)/,
  /(renderer|idle-memory|stalls|slow|flood|strangers|embedded|advisory-lock|test|mutate|bench|console-journeys|console-browser)\.test\.ts$/
]

/** Whether a test file shares its process with no other. */
export const runsAlone = (file: string): boolean => isLong(file) && alone.some((pattern) => pattern.test(file))

/** The place of a test file in the second tier; -1 for one of the first tier. */
export function placeInLongTier (file: string): number {
  return paths.findIndex((path) => path.endsWith('/') ? file.startsWith(path) : file === path)
}

/** Whether a test file belongs to the second tier. */
export function isLong (file: string): boolean {
  return placeInLongTier(file) !== -1
}

/** Whether a test file of the second tier is for what has changed: the path of the file has one of its words. */
export function isLongFor (test: string, changed: string): boolean {
  const { of } = longTier[paths[placeInLongTier(test)] ?? ''] ?? {}
  if (of === undefined) return false
  const own = wordsOf(basename(test, '.test.ts')).filter((word) => word.length > 3)
  return wordsOf(changed).some((word) => of.includes(word) || own.includes(word))
}

function wordsOf (path: string): string[] {
  return path.split(/[/.-]/)
}
