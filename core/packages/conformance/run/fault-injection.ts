import type { Outcome } from '@dispatch/host'
import type { Exchange } from '../fixtures/fixture.ts'
import type { VendorReply } from '../vendor/vendor.ts'

type Word = Outcome['outcome']

/** A fault of one request. `means`: the outcome of the request, whatever the provider reports. */
export type InjectedFault =
  & { name: string, means: 'refused' | 'not done' | 'uncertain', status?: number }
  & (
    | { script: VendorReply }
    /** The connection is refused. */
    | { link: 'refused' | 'unknown name' | 'untrusted' }
    /** The vendor gets the request and does not answer until the call is aborted. */
    | { silent: true }
  )

/** Vendors also give this answer for an idempotency key whose first request is still running. */
export const conflict = 409

const answers = (means: InjectedFault['means'], ...statuses: readonly number[]): InjectedFault[] =>
  statuses.map((status) => ({
    name: `answered ${status}`,
    means,
    status,
    script: { status, json: { message: `The kit answers ${status}.` } }
  }))

/** All faults of one request of an exchange. */
export const injectedFaults: readonly InjectedFault[] = [
  ...answers('refused', 400, 401, 403, 404, conflict),
  ...answers('not done', 429),
  ...answers('uncertain', 500, 503),
  { name: 'answered with what is not JSON', means: 'uncertain', script: { text: '<html>Welcome</html>' } },
  { name: 'answered with JSON of another shape', means: 'uncertain', script: { json: ['another', 'shape'] } },
  { name: 'answered with half an answer', means: 'uncertain', script: { cut: 'in-reply' } },
  { name: 'cut off once it has been sent', means: 'uncertain', script: { cut: 'after-body' } },
  { name: 'given up for want of an answer', means: 'uncertain', silent: true },
  { name: 'refused a connection', means: 'not done', link: 'refused' },
  { name: 'sent to a name that is not found', means: 'not done', link: 'unknown name' },
  { name: 'sent to a server with another certificate', means: 'not done', link: 'untrusted' }
]

/**
 * The place of a request in its call. `before`: neither this request nor an earlier one is past the point of no return. `at`: this request
 * is. `after`: an earlier one is.
 */
export type Position = 'before' | 'at' | 'after'

/** `passed`: the index of the first request after the checkpoint; 0 without a checkpoint. */
export function positionOf (exchange: Exchange, index: number, passed: number): Position {
  const counts = (at: number): boolean => at >= passed && isUnsafe(exchange[at])
  if (exchange.slice(0, index).some((_, at) => counts(at))) return 'after'
  return counts(index) ? 'at' : 'before'
}

/** Whether a request changes something at the vendor. A request for an access token, or one that opens a session, does not. */
export function isUnsafe (entry: Exchange[number] | undefined): boolean {
  return entry !== undefined && entry.expect.method !== 'GET' && !isSignIn(entry)
}

export function isSignIn ({ expect: { form }, signIn }: Exchange[number]): boolean {
  return signIn === true || (form !== undefined && Object.hasOwn(form, 'grant_type'))
}

/**
 * The facts that decide the outcome besides the fault. `notProcessed`: the statuses that the service declares. `keyed`: the request has an
 * idempotency key. `passed`: it is after the checkpoint. `safe`: it changes nothing.
 */
type Facts = { notProcessed: readonly number[], keyed: boolean, passed: boolean, safe: boolean }

function meaningOf ({ status, means }: InjectedFault, { notProcessed, keyed }: Facts): InjectedFault['means'] {
  if (status !== undefined && notProcessed.includes(status)) return 'not done'
  return status === conflict && keyed ? 'uncertain' : means
}

/** The permitted outcomes of a call with one attacked request. `accepted` is right only with the answer of the fixture. */
export function allowed (attack: InjectedFault, position: Position, facts: Facts): readonly Word[] {
  const { passed, safe } = facts
  const means = meaningOf(attack, facts)
  // What was accepted stays accepted, whether or not the rest was done.
  if (position === 'after') return ['uncertain', 'accepted']
  const unread = 'script' in attack && attack.status === undefined && !('cut' in attack.script) ? ['accepted' as const] : []
  if (means === 'uncertain' && position === 'at') return ['uncertain', ...unread]
  // A call that is aborted after its point of no return may have done anything.
  if (means === 'uncertain') return ['unavailable', ...unread, ...'silent' in attack && passed ? ['uncertain' as const] : []]
  if (means === 'not done') return ['unavailable']
  // A provider may send a query to learn that something does not exist.
  return safe && attack.status === 404 ? ['rejected', 'unavailable', 'accepted'] : ['rejected']
}
