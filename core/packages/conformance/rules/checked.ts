import { turnLimit } from '@dispatch/common'
import { callCheck, callSuggest } from '@dispatch/host'
import type { CheckFixture, SuggestFixture } from '../fixtures/fixture.ts'
import type { Named } from '../fixtures/fixtures.ts'
import { type Case, judged, skipped } from '../report.ts'
import { now } from '../run/clock.ts'
import { compareSignIn } from '../run/compare-mail.ts'
import { compareRequest, differs, fillPlaceholders, type PlaceholderValues } from '../run/compare.ts'
import { connectionOf } from '../run/connection.ts'
import { type InjectedFault, injectedFaults, isSignIn } from '../run/fault-injection.ts'
import { inTurn } from '../run/in-turn.ts'
import { memoryLog, memoryState } from '../run/memory.ts'
import { idempotencyKeys, references } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import type { ExchangeScript, ExchangeSession } from '../run/vendor-double.ts'
import { sessionFaults } from './mails.ts'

type Requested = Named<CheckFixture | SuggestFixture>
type Result = Awaited<ReturnType<typeof callCheck | typeof callSuggest>>
type Run = { result: Result } & Pick<ExchangeSession, 'requests' | 'mails' | 'signIn'>
type Rule = 'checked' | 'suggested'

/** For one call, in milliseconds that the event loop turns. */
const limit = 10_000

/** Runs each check of the credentials, and attacks every request of those that succeed. */
export async function checkedCases (subject: ProviderUnderTest): Promise<Case[]> {
  const { installed: { check, code }, fixtures: { checks } } = subject
  if (check === undefined) {
    return [checks.length === 0
      ? skipped('checked', 'the check of the credentials', 'The provider has none.')
      : judged('checked', 'the check of the credentials', [`"${code}" has fixtures of a check, but no function "check".`])]
  }
  const missing = checks.some(succeeds)
    ? []
    : [judged('checked', 'credentials that work', ['There is none: write fixtures/check.ok.json.'])]
  return [...missing, ...await requestedCases(subject, 'checked', checks)]
}

/** Runs the suggestions for each setting that has some, and attacks every request of those that succeed. */
export async function suggestedCases (subject: ProviderUnderTest): Promise<Case[]> {
  const { installed: { manifest: { suggestions = [] } }, fixtures: { suggests } } = subject
  const isDeclared = ({ fixture: { setting } }: Named<SuggestFixture>): boolean => suggestions.includes(setting)
  const strays = suggests.filter((named) => !isDeclared(named)).map(({ name, fixture: { setting } }) =>
    judged('suggested', name, [`The provider has no suggestions for "${setting}".`])
  )
  if (suggestions.length === 0 && strays.length === 0) {
    return [skipped('suggested', 'the suggestions for a setting', 'The provider has none.')]
  }
  const missing = suggestions.filter((setting) => !suggests.some((named) => named.fixture.setting === setting && showsSome(named)))
    .map((setting) =>
      judged('suggested', `suggestions for "${setting}"`, [`There is none with values: write fixtures/suggest.${setting}.json.`])
    )
  return [...strays, ...missing, ...await requestedCases(subject, 'suggested', suggests.filter(isDeclared))]
}

function succeeds ({ fixture: { result } }: Requested): boolean {
  return result.result === 'ok'
}

function showsSome ({ fixture: { result: { result, values = [] } } }: Named<SuggestFixture>): boolean {
  return result === 'ok' && values.length > 0
}

async function requestedCases (subject: ProviderUnderTest, rule: Rule, all: readonly Requested[]): Promise<Case[]> {
  const reported = await inTurn(all, async (named) => judged(rule, named.name, faultsOf(named, await run(subject, named))))
  const attacked = await inTurn(all.filter(succeeds), (named) => attackedCases(subject, rule, named))
  return [...reported, ...attacked.flat()]
}

function faultsOf ({ fixture }: Requested, run: Run): string[] {
  const { exchange = [], result: expected } = fixture
  const mail = mailOf(fixture)
  const { result, requests, mails, signIn } = run
  const counting = exchange.filter((entry) => entry.expect.method !== 'GET' && !isSignIn(entry))
  const reported: Readonly<Record<string, unknown>> = result
  const desired = fillPlaceholders(exchange, filling)
  return [
    ...counting.map(({ expect: { method, url } }) => `${method} ${url}: it only reads.`),
    ...requests.flatMap(({ request }, index) => {
      const expect = desired[index]?.expect
      return expect === undefined
        ? [`${request.method} https://${request.host}${request.path} is one more than expected.`]
        : compareRequest(expect, request, filling)
    }),
    ...exchange.slice(requests.length).map(({ expect: { method, url } }) => `${method} ${url} was not sent.`),
    ...mail === undefined ? [] : compareSignIn(mail.expect, signIn()),
    ...mails.length === 0 ? [] : ['An e-mail was sent: it only reads.'],
    ...Object.entries(expected).flatMap(([field, value]) => differs(field, value, reported[field]))
  ]
}

function mailOf (fixture: Requested['fixture']): CheckFixture['mail'] {
  return 'mail' in fixture ? fixture.mail : undefined
}

async function attackedCases (subject: ProviderUnderTest, rule: Rule, named: Requested): Promise<Case[]> {
  const { fixture, name } = named
  const { exchange = [] } = fixture
  const mail = mailOf(fixture)
  const trials = exchange.flatMap((_, at) => injectedFaults.filter((how) => wordFor(how) !== undefined).map((how) => ({ at, how })))
  const requested = await inTurn(trials, async ({ at, how }) => {
    const { result } = await run(subject, named, { attack: { at, how } })
    return judged(rule, `${name}: request ${at + 1} ${how.name}`, differs('result', wordFor(how), result.result))
  })
  const sessions = sessionFaults.filter(({ needs }) => mail !== undefined && (needs === undefined || mail.expect.user !== undefined))
  const signedIn = await inTurn(sessions, async (mailAttack) => {
    const { result } = await run(subject, named, { mailAttack })
    const word = mailAttack.outcome === 'rejected' ? 'failed' : 'cannot_be_checked'
    return judged(rule, `${name}: the mail server ${mailAttack.name}`, differs('result', word, result.result))
  })
  return [...requested, ...signedIn]
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
  { fixture }: Requested,
  attacks: Pick<ExchangeScript, 'attack' | 'mailAttack'> = {}
): Promise<Run> {
  const { settings, facts, sandbox = false, exchange = [] } = fixture
  const mail = mailOf(fixture)
  const session = await stage.play({ exchange: fillPlaceholders(exchange, filling), ...(mail !== undefined && { mail }), ...attacks })
  const none = (): Promise<never> => Promise.reject(new TypeError('It has no documents and no checkpoint.'))
  const resources = {
    network: session.network,
    account: 'the company',
    documents: { read: none, keep: none },
    checkpoint: { save: none },
    ...connectionOf(installed, { ...(facts !== undefined && { facts }) })
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
    const result = 'setting' in fixture
      ? await callSuggest(installed, fixture.setting, context, { signal })
      : await callCheck(installed, context, { signal })
    return { ...session, result }
  } finally {
    limited.clear()
    await session.close()
  }
}
