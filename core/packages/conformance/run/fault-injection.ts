import type { Outcome } from '@dispatch/core/host'
import type { Exchange } from '../fixtures/fixture.ts'
import type { VendorReply } from '../vendor/vendor.ts'

type Word = Outcome['outcome']

/** What can go wrong with one request. `means`: what it says about the request, whatever the provider makes of it. */
export type InjectedFault =
  & { name: string, means: 'refused' | 'not done' | 'doubtful', status?: number }
  & (
    | { script: VendorReply }
    /** There is no connection. */
    | { link: 'refused' | 'unknown name' | 'untrusted' }
    /** The vendor has the request and says nothing until the call is given up. */
    | { silent: true }
  )

/** Said of an idempotency key whose first request is still at work, too. */
export const conflict = 409

const answers = (means: InjectedFault['means'], ...statuses: readonly number[]): InjectedFault[] =>
  statuses.map((status) => ({
    name: `answered ${status}`,
    means,
    status,
    script: { status, json: { message: `The kit answers ${status}.` } }
  }))

/** Every way in which one request of an exchange is made to fail. */
export const injectedFaults: readonly InjectedFault[] = [
  ...answers('refused', 400, 401, 403, 404, conflict),
  ...answers('not done', 429),
  ...answers('doubtful', 500, 503),
  { name: 'answered with what is not JSON', means: 'doubtful', script: { text: '<html>Welcome</html>' } },
  { name: 'answered with JSON of another shape', means: 'doubtful', script: { json: ['another', 'shape'] } },
  { name: 'answered with half an answer', means: 'doubtful', script: { cut: 'in-reply' } },
  { name: 'cut off once it has been sent', means: 'doubtful', script: { cut: 'after-body' } },
  { name: 'given up for want of an answer', means: 'doubtful', silent: true },
  { name: 'refused a connection', means: 'not done', link: 'refused' },
  { name: 'sent to a name that is not found', means: 'not done', link: 'unknown name' },
  { name: 'sent to a server with another certificate', means: 'not done', link: 'untrusted' }
]

/**
 * How far a call has come with one of its requests. `before`: nothing is done yet that could not be repeated, by this request
 * neither. `at`: this request does it. `after`: an earlier one has done it.
 */
export type Position = 'before' | 'at' | 'after'

/** `passed`: from which request on the call is past its checkpoint; 0 where there is none. */
export function positionOf (exchange: Exchange, index: number, passed: number): Position {
  const counts = (at: number): boolean => at >= passed && isUnsafe(exchange[at])
  if (exchange.slice(0, index).some((_, at) => counts(at))) return 'after'
  return counts(index) ? 'at' : 'before'
}

/** Whether a request changes something at the vendor; one for an access token does not. */
export function isUnsafe (entry: Exchange[number] | undefined): boolean {
  return entry !== undefined && entry.expect.method !== 'GET' && !isSignIn(entry)
}

export function isSignIn ({ expect: { form } }: Exchange[number]): boolean {
  return form !== undefined && Object.hasOwn(form, 'grant_type')
}

/**
 * What counts of the request beside the attack. `notProcessed`: statuses that its service declares. `keyed`: it goes under an
 * idempotency key. `passed`: it is past its checkpoint. `safe`: it changes nothing.
 */
type Facts = { notProcessed: readonly number[], keyed: boolean, passed: boolean, safe: boolean }

function meaningOf ({ status, means }: InjectedFault, { notProcessed, keyed }: Facts): InjectedFault['means'] {
  if (status !== undefined && notProcessed.includes(status)) return 'not done'
  return status === conflict && keyed ? 'doubtful' : means
}

/** What may become of a call of which one request was attacked. `accepted` is only ever right with the answer of the fixture. */
export function allowed (attack: InjectedFault, position: Position, facts: Facts): readonly Word[] {
  const { passed, safe } = facts
  const means = meaningOf(attack, facts)
  // What was accepted stays accepted; whether the rest was done is another question.
  if (position === 'after') return ['uncertain', 'accepted']
  const unread = 'script' in attack && attack.status === undefined && !('cut' in attack.script) ? ['accepted' as const] : []
  if (means === 'doubtful' && position === 'at') return ['uncertain', ...unread]
  // A call that is given up after its point of no return may have done anything.
  if (means === 'doubtful') return ['unavailable', ...unread, ...'silent' in attack && passed ? ['uncertain' as const] : []]
  if (means === 'not done') return ['unavailable']
  // What is not found when it is looked for may be what the provider wants to know.
  return safe && attack.status === 404 ? ['rejected', 'unavailable', 'accepted'] : ['rejected']
}
