import type { Manifest } from '@dispatch/host'
import { type Case, judged, skipped } from '../report.ts'
import { differs } from '../run/compare.ts'
import { allowed, injectedFaults, isSignIn, isUnsafe, positionOf } from '../run/fault-injection.ts'
import { inTurn } from '../run/in-turn.ts'
import { memoryState } from '../run/memory.ts'
import { type Prepared, prepareSend } from '../run/prepare.ts'
import { type CallRun, traceOf } from '../run/run.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { ownFaults } from './outcomes.ts'

/** Each service with the verb `cancel`: what its fixtures must show, and what becomes of a cancellation of which a request fails. */
export async function cancelCases (
  subject: ProviderUnderTest,
  { questions, fit }: { questions: readonly Prepared[], fit: readonly Prepared[] }
): Promise<Case[]> {
  const { installed: { manifest } } = subject
  const services = Object.entries(manifest.services).filter(([, { verbs }]) => verbs.includes('cancel'))
  if (services.length === 0) return [skipped('cancel', 'a cancellation', 'No service has the verb "cancel".')]
  const cases = await inTurn(services, async ([service, { statuses = {} }]) => {
    const own = questions.filter(({ call }) => call.verb === 'cancel' && call.service === service)
    const accepted = fit.find(({ call, result }) => call.service === service && result['outcome'] === 'accepted')
    if (accepted?.call.exchange.length === 0) return [await rememberedCase(subject, { service, accepted, statuses })]
    const taken = own.filter(({ result }) => isTakenBack(statuses, result['status']))
    const [first] = taken
    return [
      judged('cancel', `a cancellation of "${service}" that the vendor accepts`,
        first === undefined ? ['There is none whose result is a word for "cancelled": write fixtures/cancel.accepted.json.'] : []),
      judged('cancel', `a cancellation of "${service}" that the vendor refuses`,
        own.some(({ result }) => result['outcome'] === 'rejected') ? [] : ['There is none: write fixtures/cancel.refused.json.']),
      ...first === undefined ? [] : await attackedCases(subject, first)
    ]
  })
  return cases.flat()
}

type Words = NonNullable<Manifest['services'][keyof Manifest['services']]>['statuses']

function isTakenBack (statuses: NonNullable<Words>, word: unknown): boolean {
  return typeof word === 'string' && Object.hasOwn(statuses, word) && statuses[word] === 'cancelled'
}

/** Spoils every request of a call that changes something, in every way. */
export async function attackedCases (
  subject: ProviderUnderTest,
  prepared: Prepared,
  rule: 'cancel' | 'said' | 'subscribed' = 'cancel'
): Promise<Case[]> {
  const { installed: { manifest } } = subject
  const { name, call: { service, exchange } } = prepared
  const { notProcessed = [], idempotency } = manifest.services[service] ?? {}
  const trials = exchange.flatMap((entry, at) => {
    const facts = {
      notProcessed: isSignIn(entry) ? [] : notProcessed,
      keyed: !isSignIn(entry) && idempotency?.kind === 'key',
      passed: true,
      safe: !isUnsafe(entry)
    }
    return injectedFaults.map((how) => ({ at, how, words: allowed(how, positionOf(exchange, at, 0), facts) }))
  })
  return await inTurn(trials, async ({ at, how, words }) => {
    const run = await subject.play(prepared, { attack: { at, how } })
    return judged(rule, `${name}: request ${at + 1} ${how.name}`, faultsOf(manifest, prepared, run, words))
  })
}

function faultsOf (manifest: Manifest, { result }: Prepared, { result: made, seen }: CallRun, words: ReturnType<typeof allowed>): string[] {
  const expected = `it must be ${words.join(' or ').replace('accepted', 'done, as the fixture says')}`
  if (made.outcome === 'answered') {
    const right = words.includes('accepted') && differs('answer', result, made.value).length === 0
    return right ? [] : [`It is called done; ${expected}.`]
  }
  if (!words.includes(made.outcome)) return [`It is called ${made.outcome}; ${expected}.${traceOf(seen)}`]
  return made.outcome === 'accepted' || seen.thrown === undefined ? [] : ownFaults(manifest, words, seen)
}

/** A provider that asks nobody takes back what it has accepted, and once more changes nothing. */
async function rememberedCase (
  subject: ProviderUnderTest,
  { service, accepted, statuses }: { service: string, accepted: Prepared, statuses: NonNullable<Words> }
): Promise<Case> {
  const state = memoryState()
  const named = subject.fixtures.sends.find(({ name }) => name === accepted.name)
  const dispatched = named === undefined ? accepted : prepareSend(subject.installed, named)
  const { result } = await subject.play(dispatched, { state })
  const id = result.outcome === 'accepted' ? result.response.id : ''
  const answers = await inTurn(['first', 'second'], async (time) => {
    const { result: made } = await subject.play({ ...dispatched, call: { ...dispatched.call, verb: 'cancel', query: { id } } }, { state })
    const word: unknown = made.outcome === 'answered' && typeof made.value === 'object' && made.value !== null && 'status' in made.value
      ? made.value.status
      : undefined
    return isTakenBack(statuses, word) ? [] : [`The ${time} time it is not taken back: ${JSON.stringify(made)}.`]
  })
  return judged('cancel', `${accepted.name}: dispatched, and cancelled twice ("${service}")`, answers.flat())
}
