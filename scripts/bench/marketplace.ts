/**
 * What 200 installed adapters cost a start of the service, how long an installation of 1 MB takes, whether an upgrade, a rollback or a
 * revocation fails a request at 50 dispatches a second, and how long a list with a search over 1,000 adapters takes.
 */
import { buildCatalog, catalogFile, makeKeys, signCatalog } from '@dispatch/marketplace'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { viewsOf } from '../../core/packages/features/marketplace/service/views.ts'
import { packageOf } from './support/adapter-package.ts'
import { type Child, startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { invoiceRequest } from './support/invoice.ts'
import { openMarketplace, stamp } from './support/marketplace.ts'
import { median } from './support/measure.ts'
import type { RunningService } from './support/service.ts'
import { printTable } from './support/table.ts'

const { adapters, starts, installs, listed, lists, seconds } = effort(
  { adapters: 200, starts: 5, installs: 5, listed: 1_000, lists: 50, seconds: 20 },
  { adapters: 3, starts: 1, installs: 1, listed: 10, lists: 2, seconds: 3 }
)
/** Dispatches in a second while versions are switched. */
const rate = 50

type Place = { databaseUrl: string, folder: string }
type Started = { seconds: number, megabytes: number }

const serviceOf = ({ databaseUrl, folder }: Place): Promise<Child<RunningService>> =>
  startChild<RunningService>('service.ts', [databaseUrl, folder, 'unrendered'])

/** The median time and memory of starts, after one that does what only the first one has to. */
async function measureStarts (place: Place): Promise<Started> {
  const found: Started[] = []
  for (let nth = 0; nth <= starts; nth++) {
    const begun = performance.now()
    const { process: { pid }, stop } = await serviceOf(place)
    found.push({ seconds: (performance.now() - begun) / 1000, megabytes: residentMegabytes(pid) })
    await stop()
  }
  const measured = found.slice(1)
  return { seconds: median(measured.map((one) => one.seconds)), megabytes: median(measured.map((one) => one.megabytes)) }
}

function residentMegabytes (pid: number | undefined): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid ?? 0}/status`, 'utf8')) ?? []
  return Number(kibibytes) * 1.024 / 1000
}

async function timed (work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** Milliseconds of an installation of 1 MB, from its bytes to its place on the disk. */
async function measureInstalls (place: Place): Promise<number> {
  await using open = await openMarketplace(place)
  const found: number[] = []
  for (let nth = 0; nth < installs; nth++) {
    const bytes = packageOf(`large-${nth}`, '1.0.0', 1_000_000)
    found.push(await timed(() => open.install(bytes)))
  }
  return median(found)
}

/**
 * Dispatches through an adapter that is meanwhile upgraded, rolled back, upgraded again, and revoked by its catalog: what failed, and who
 * answered.
 */
async function measureSwitches (place: Place): Promise<{ sent: number, failed: number, answered: Record<string, number> }> {
  const { privateKey, publicKey } = await makeKeys()
  const address = join(place.folder, 'revoking')
  mkdirSync(address)
  await using open = await openMarketplace({ ...place, locations: [{ address, keys: [publicKey] }] })
  const { marketplace } = open
  const newer = packageOf('switched', '1.1.0')
  await open.install(packageOf('switched', '1.0.0'))
  await marketplace.add(newer, {}, stamp())
  const { ready: { url, bearer: authorization }, stop } = await serviceOf(place)
  const headers = { authorization, 'content-type': 'application/json' }
  await fetch(`${url}/api/v1/my/providers/switched`, { method: 'PUT', headers, body: JSON.stringify({ settings: {} }) })
  const dispatch = async (): Promise<string> => {
    const body = JSON.stringify({ ...invoiceRequest(crypto.randomUUID()), providerName: 'switched' })
    const answer = await fetch(`${url}/api/invoicing`, { method: 'POST', headers, body })
    const { providerResponse } = await answer.json() as { providerResponse?: { status: string } }
    return answer.ok && providerResponse !== undefined ? providerResponse.status : `failed ${answer.status}`
  }
  await dispatch()
  const upgrade = (): Promise<void> => marketplace.upgrade('switched', { version: '1.1.0', consent: { hosts: [], services: [] } }, stamp())
  const revoke = async (): Promise<void> => {
    const revoked = [{ code: 'switched', versions: '1.1.0', reason: 'It is measured.', at: new Date().toISOString() }]
    const payload = await buildCatalog([{ place: 'switched.tgz', bytes: newer }], { now: new Date(), days: 90, revoked })
    writeFileSync(join(address, catalogFile), await signCatalog(payload, privateKey))
    await marketplace.refresh(stamp())
  }
  const changes = [upgrade, () => marketplace.rollBack('switched', {}, stamp()), upgrade, revoke]
  const answers: Promise<string>[] = []
  let [changed, left] = [Promise.resolve(), changes.length]
  const part = Math.floor(seconds * rate / (changes.length + 1))
  // A busy machine switches late: the dispatches go on for as long as that takes.
  for (let nth = 0; nth < seconds * rate || left > 0; nth++) {
    answers.push(dispatch())
    const change = nth % part === 0 ? changes[nth / part - 1] : undefined
    if (change !== undefined) {
      changed = changed.then(change).finally(() => {
        left--
      })
    }
    await pause(1000 / rate)
  }
  await changed
  const all = await Promise.all(answers)
  await stop()
  const answered = Object.fromEntries([...Map.groupBy(all, (one) => one)].map(([status, of]) => [status, of.length]))
  return { sent: all.length, failed: all.filter((one) => one.startsWith('failed')).length, answered }
}

/** Milliseconds of a list with a search, over what is installed and the adapters of a catalog. */
async function measureLists ({ databaseUrl, folder }: Place): Promise<number> {
  const { privateKey, publicKey } = await makeKeys()
  const address = join(folder, 'catalog')
  mkdirSync(address)
  const payload = await buildCatalog([{ place: 'listed.tgz', bytes: packageOf('listed', '1.0.0') }], { now: new Date(), days: 90 })
  const [one] = payload.adapters
  if (one === undefined) throw new TypeError('The catalog lists its package.')
  const many = Array.from({ length: listed }, (_, nth) => ({ ...one, code: `listed-${nth}` }))
  writeFileSync(join(address, catalogFile), await signCatalog({ ...payload, adapters: many }, privateKey))
  await using open = await openMarketplace({ databaseUrl, folder, locations: [{ address, keys: [publicKey] }] })
  await open.marketplace.refresh(stamp())
  const found: number[] = []
  for (let nth = 0; nth < lists; nth++) {
    found.push(await timed(async () => {
      const views = viewsOf(await open.marketplace.list(), { companyId: 0, isOperator: true }, { q: `listed ${nth % listed}` })
      if (views.length === 0) throw new Error('Nothing was found.')
    }))
  }
  return median(found)
}

await withBenchDatabase(async ({ url: databaseUrl }, folder) => {
  const place = { databaseUrl, folder }
  const before = await measureStarts(place)
  {
    await using open = await openMarketplace(place)
    for (let nth = 0; nth < adapters; nth++) await open.install(packageOf(`bench-${nth}`, '1.0.0'))
  }
  const after = await measureStarts(place)
  const [install, list, { sent, failed, answered }] = [await measureInstalls(place), await measureLists(place),
    await measureSwitches(place)]
  const more = (from: number, to: number, digits: number): string => `${from.toFixed(digits)} → ${to.toFixed(digits)}`
  printTable({
    [`start with ${adapters} adapters, s`]: { measured: more(before.seconds, after.seconds, 2), wanted: '≤ 0.3 more' },
    [`resident with ${adapters} adapters, MB`]: { measured: more(before.megabytes, after.megabytes, 0), wanted: '≤ 20 more' },
    'install of 1 MB, ms': { measured: Math.round(install), wanted: '≤ 2000' },
    [`list with a search over ${listed + adapters} adapters, ms`]: { measured: list.toFixed(1), wanted: '≤ 20' },
    [`failed of ${sent} at ${rate} a second: upgrades, rollback, revocation`]: { measured: failed, wanted: 0 },
    'answered by each version': { measured: JSON.stringify(answered) }
  })
})
