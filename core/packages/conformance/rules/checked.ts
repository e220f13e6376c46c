import { turnLimit } from '@dispatch/common'
import { callCheck } from '@dispatch/core/host'
import { compareSignIn } from '../fixtures/compare-mail.ts'
import { compareRequest, differs, fillPlaceholders, type PlaceholderValues } from '../fixtures/compare.ts'
import type { CheckFixture } from '../fixtures/fixture.ts'
import type { Named } from '../fixtures/fixtures.ts'
import { idempotencyKeys, references } from '../fixtures/prepare.ts'
import { type Case, judged, skipped } from '../report.ts'
import { now } from '../run/clock.ts'
import { connectionOf } from '../run/connection.ts'
import { type InjectedFault, injectedFaults, isSignIn } from '../run/fault-injection.ts'
import { memoryLog, memoryState } from '../run/memory.ts'
import type { ExchangeScript, ExchangeSession } from '../run/vendor-double.ts'
import { sessionFaults } from './mails.ts'
import { inTurn } from './replay.ts'
import type { ProviderUnderTest } from './subject.ts'

type Result = Awaited<ReturnType<typeof callCheck>>
type Run = { result: Result } & Pick<ExchangeSession, 'requests' | 'mails' | 'signIn'>

/** For one check, in milliseconds that the event loop turns. */
const limit = 10_000

/** Runs each check of the credentials, and attacks every request of those that succeed. */
export async function checkedCases (subject: ProviderUnderTest): Promise<Case[]> {
  const { installed: { check, code }, fixtures: { checks } } = subject
  if (check === undefined) {
    return [checks.length === 0
      ? skipped('checked', 'the check of the credentials', 'The provider has none.')
      : judged('checked', 'the check of the credentials', [`"${code}" has fixtures of a check, but no function "check".`])]
  }
  const good = checks.filter(({ fixture: { result } }) => result.result === 'ok')
  const missing = good.length === 0 ? [judged('checked', 'credentials that work', ['There is none: write fixtures/check.ok.json.'])] : []
  const told = await inTurn(checks, async (named) => judged('checked', named.name, faultsOf(named, await run(subject, named))))
  const attacked = await inTurn(good, (named) => attackedCases(subject, named))
  return [...missing, ...told, ...attacked.flat()]
}

function faultsOf ({ fixture: { exchange = [], mail, result: expected } }: Named<CheckFixture>, run: Run): string[] {
  const { result, requests, mails, signIn } = run
  const counting = exchange.filter((entry) => entry.expect.method !== 'GET' && !isSignIn(entry))
  const told: Readonly<Record<string, unknown>> = result
  const wanted = fillPlaceholders(exchange, filling)
  return [
    ...counting.map(({ expect: { method, url } }) => `${method} ${url}: a check only reads.`),
    ...requests.flatMap(({ request }, index) => {
      const expect = wanted[index]?.expect
      return expect === undefined
        ? [`${request.method} https://${request.host}${request.path} is one more than expected.`]
        : compareRequest(expect, request, filling)
    }),
    ...exchange.slice(requests.length).map(({ expect: { method, url } }) => `${method} ${url} was not sent.`),
    ...mail === undefined ? [] : compareSignIn(mail.expect, signIn()),
    ...mails.length === 0 ? [] : ['An e-mail was sent: a check only reads.'],
    ...Object.entries(expected).flatMap(([field, value]) => differs(field, value, told[field]))
  ]
}

async function attackedCases (subject: ProviderUnderTest, named: Named<CheckFixture>): Promise<Case[]> {
  const { fixture: { exchange = [], mail }, name } = named
  const trials = exchange.flatMap((_, at) => injectedFaults.filter((how) => wordFor(how) !== undefined).map((how) => ({ at, how })))
  const asked = await inTurn(trials, async ({ at, how }) => {
    const { result } = await run(subject, named, { attack: { at, how } })
    return judged('checked', `${name}: request ${at + 1} ${how.name}`, differs('result', wordFor(how), result.result))
  })
  const sessions = sessionFaults.filter(({ needs }) => mail !== undefined && (needs === undefined || mail.expect.user !== undefined))
  const signedIn = await inTurn(sessions, async (mailAttack) => {
    const { result } = await run(subject, named, { mailAttack })
    const word = mailAttack.outcome === 'rejected' ? 'failed' : 'cannot_be_checked'
    return judged('checked', `${name}: the mail server ${mailAttack.name}`, differs('result', word, result.result))
  })
  return [...asked, ...signedIn]
}

/** What a fault of a request means. What else a refusal means, such as a 404, the provider knows. */
function wordFor ({ status, means }: InjectedFault): Result['result'] | undefined {
  if (status === 401) return 'failed'
  return means === 'refused' ? undefined : 'cannot_be_checked'
}

const filling: PlaceholderValues = {
  reference: references[0],
  idempotencyKey: idempotencyKeys[0],
  now: now().toISOString(),
  request: {},
  documents: new Map()
}

async function run (
  { installed, stages: [stage] }: ProviderUnderTest,
  { fixture: { settings, facts, sandbox = false, exchange = [], mail } }: Named<CheckFixture>,
  attacks: Pick<ExchangeScript, 'attack' | 'mailAttack'> = {}
): Promise<Run> {
  const session = await stage.play({ exchange: fillPlaceholders(exchange, filling), ...(mail !== undefined && { mail }), ...attacks })
  const none = (): Promise<never> => Promise.reject(new TypeError('A check has no documents and no checkpoint.'))
  const resources = {
    network: session.network,
    account: 'the company',
    documents: { read: none, keep: none },
    checkpoint: { save: none },
    ...connectionOf(installed, facts)
  }
  const { reference, idempotencyKey } = filling
  const context = {
    settings,
    requestSettings: {},
    sandbox,
    reference,
    idempotencyKey,
    log: memoryLog(),
    state: memoryState(),
    now,
    resources
  }
  const limited = turnLimit(limit)
  try {
    const signal = AbortSignal.any([session.givenUp, limited.signal])
    return { ...session, result: await callCheck(installed, context, { signal }) }
  } finally {
    limited.clear()
    await session.close()
  }
}
