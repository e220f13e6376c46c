import { createRecent } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import type { Outcome } from './dispatch.ts'

/** Whether a call may begin; if not, in how many seconds one may. */
export type Admission = { pass: true } | { pass: false, retryAfter: number }

/** A configuration of a provider: that of the company (`userId` null), or that of one user. */
export type Configured = { companyId: number, userId: number | null, provider: string }

/** The calls of a configuration that go the same way at the vendor. */
export type Line = Configured & { service: ServiceName, sandbox: boolean }

/**
 * The circuit breakers of this process, one for each configuration, and for each host where a configuration reaches several. So what fails
 * for the settings of one user holds nobody else back, and a host that fails holds back the services that need it. Only failures of the
 * vendor count: `unavailable` and `uncertain`. A refusal proves that the vendor works, and so does the word that it takes nothing for one
 * recipient now. Processes do not share their breakers.
 */
export type Breakers = {
  /** Each admitted call must be followed by `record`. */
  admit: (line: Line) => Admission
  record: (line: Line, outcome: Outcome) => void
  /** Counts a failure of the provider's own code that no call has told of. */
  fault: (configured: Configured) => void
  /** The providers with breakers that are not closed, and for how many companies. */
  failing: () => ReadonlyMap<string, number>
  /** The same for a user: whether it is the user's own configuration, or the company's. */
  failingFor: (user: { companyId: number, userId: number }) => ReadonlyMap<string, 'company' | 'user'>
  /** Closes breakers: of one company or of all (null), of one provider or of all. */
  close: (which: { companyId: number | null, providerName?: string }) => void
}

/** After `failures` failures in a row, a breaker stays open for `pause` seconds. `now` is the clock. */
export type BreakersOptions = { now: () => Date, failures?: number, pause?: number }

/** `opened` and `probed` are times in milliseconds. A probe that never reports its end is forgotten after another pause. */
type Breaker = { of: Configured, failures: number, opened?: number, probed?: number }

const maxBreakers = 50_000
const failures: ReadonlySet<Outcome['outcome']> = new Set(['unavailable', 'uncertain'])

/** Where what fails at no host is counted, such as an adapter that crashes. */
const nowhere = ''

const keyOf = ({ companyId, provider, userId }: Configured, host: string): string => `${companyId}|${provider}|${userId ?? ''}|${host}`
const lineKeyOf = ({ service, sandbox, ...configured }: Line): string => keyOf(configured, `${service}|${sandbox}`)

/** The host at which the vendor has failed; undefined where the outcome proves that it works. */
function hostOfFailure (outcome: Outcome): string | undefined {
  if (!('error' in outcome) || !failures.has(outcome.outcome) || outcome.error.word === 'recipient_unavailable') return undefined
  return outcome.error.host ?? nowhere
}

/**
 * Breakers of all providers in this process. `failures`: how many in a row open one (5 unless given). `pause`: seconds until it lets a call
 * through again (30 unless given).
 */
export function createBreakers ({ now, failures: threshold = 5, pause = 30 }: BreakersOptions): Breakers {
  const breakers = createRecent<string, Breaker>(maxBreakers)
  /** The host at which the last call of a line failed. Which hosts a call will need is not known before it begins. */
  const failedAt = createRecent<string, string>(maxBreakers)
  const left = (since: number | undefined): number => since === undefined ? 0 : since + pause * 1000 - now().getTime()

  const fail = ({ companyId, userId, provider }: Configured, host: string): void => {
    const of = { companyId, userId, provider }
    const key = keyOf(of, host)
    const failures = (breakers.get(key)?.failures ?? 0) + 1
    breakers.set(key, { of, failures, ...(failures >= threshold && { opened: now().getTime() }) })
  }

  /** The breakers through which a call passes. */
  const onTheWay = (line: Line): string[] =>
    [nowhere, failedAt.get(lineKeyOf(line))].flatMap((host) => host === undefined ? [] : [keyOf(line, host)])

  const notClosed = (): Configured[] => [...breakers.values()].filter(({ opened }) => opened !== undefined).map(({ of }) => of)

  return {
    admit (line) {
      const open = onTheWay(line).flatMap((key) => {
        const breaker = breakers.get(key)
        return breaker?.opened === undefined ? [] : [breaker]
      })
      const wait = Math.max(0, ...open.flatMap(({ opened, probed }) => [left(opened), left(probed)]))
      if (wait > 0) return { pass: false, retryAfter: Math.ceil(wait / 1000) }
      for (const breaker of open) breaker.probed = now().getTime()
      return { pass: true }
    },
    record (line, outcome) {
      // Our own fault proves nothing about the vendor.
      if ('error' in outcome && outcome.error.ours === true) return
      const failed = hostOfFailure(outcome)
      const before = failedAt.get(lineKeyOf(line))
      if (before !== undefined && before !== failed) breakers.delete(keyOf(line, before))
      if (failed === undefined) {
        breakers.delete(keyOf(line, nowhere))
        failedAt.delete(lineKeyOf(line))
        return
      }
      failedAt.set(lineKeyOf(line), failed)
      fail(line, failed)
    },
    fault (configured) {
      fail(configured, nowhere)
    },
    failing () {
      const providers = Map.groupBy(notClosed(), ({ provider }) => provider)
      return new Map([...providers].map(([provider, of]) => [provider, new Set(of.map(({ companyId }) => companyId)).size]))
    },
    failingFor (user) {
      const found = notClosed().filter(({ companyId, userId }) =>
        companyId === user.companyId && (userId === null || userId === user.userId)
      )
      // A user's own configuration is used in place of the company's.
      const ownLast = found.toSorted((a, b) => Number(a.userId !== null) - Number(b.userId !== null))
      return new Map(ownLast.map(({ provider, userId }) => [provider, userId === null ? 'company' : 'user']))
    },
    close ({ companyId, providerName }) {
      for (const [key, { of }] of [...breakers.entries()]) {
        if (companyId !== null && of.companyId !== companyId) continue
        if (providerName === undefined || of.provider === providerName) breakers.delete(key)
      }
    }
  }
}
