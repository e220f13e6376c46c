/**
 * Tests of the second tier, and what takes them long. `npm test` leaves them out; `npm run test:long` runs them alone, and `.ci/run` runs
 * both tiers. A path that ends in `/` is a folder. They are started in this order: what takes long comes first, so that no processor waits
 * for the last one.
 */
export const longTier: Readonly<Record<string, string>> = {
  'core/packages/sandbox/test/': 'processes of adapters are started, attacked and ended',
  'test/sandbox/': 'services run the providers of others',
  'core/packages/conformance/test/zoo.test.ts': 'the kit runs once for each broken provider',
  'core/packages/conformance/test/values.test.ts': 'the kit runs once for each way to harm a value',
  'test/conformance.test.ts': 'every shipped provider passes the whole kit',
  'test/crash/': 'processes are killed and disturbed under load',
  'test/e2e/': 'each test starts the service as it is run for real',
  'test/plugins/console-journeys.test.ts': 'people go through the console in a browser, with and without script',
  'test/plugins/console-browser.test.ts': 'each page of the console is looked at in a browser',
  'test/hostile/': 'attacks, floods, stalls and random requests at length',
  'core/packages/conformance/test/stuck.test.ts': 'the kit waits for providers that never end',
  'core/packages/documents/test/renderer.test.ts': 'threads run into their limits of time and memory',
  'core/packages/features/templates/test/hostile.test.ts': 'templates run into their limits of time and memory',
  'core/packages/embedded-postgres/test/embedded.test.ts': 'servers are installed, killed and started again',
  'test/core/store/advisory-lock.test.ts': 'processes prepare one database at once, again and again',
  'test/core/store/database.test.ts': 'statements and locks run into their limits',
  'test/core/work/away.test.ts': 'the database goes away and comes back',
  'test/core/work/flood.test.ts': 'two thousand events at once',
  'test/core/work/outcomes.test.ts': 'leases are lost, and the database is away',
  'test/core/work/stall.test.ts': 'processes stand still for longer than a lease',
  'test/docs/packages.test.ts': 'each example is run as a program',
  'test/docs/providers.test.ts': 'the guide is followed, each command a program',
  'test/plugins/chains-all.test.ts': 'all chains of services are run',
  'test/plugins/console-code.test.ts': 'each example is run as a program',
  'test/plugins/deferred-documents.test.ts': 'signed documents are fetched again and again',
  'test/plugins/storage.test.ts': 'five servers make a bucket',
  'test/plugins/replica.test.ts': 'a replica follows its server, falls behind and goes away',
  'test/plugins/pooler.test.ts': 'two services share few connections, and one waits for a lock',
  'test/plugins/outages.test.ts': 'the database is away, for reading and for writing',
  'test/scripts/': 'each test starts programs',
  'test/templates/office.test.ts': 'LibreOffice opens what is made'
}

const places = Object.keys(longTier)

/** The place of a test file in the second tier; -1 for one of the first tier. */
export function placeInLongTier (file: string): number {
  return places.findIndex((path) => path.endsWith('/') ? file.startsWith(path) : file === path)
}

/** Whether a test file belongs to the second tier. */
export function isLong (file: string): boolean {
  return placeInLongTier(file) !== -1
}
