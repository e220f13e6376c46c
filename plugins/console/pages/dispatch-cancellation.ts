import { type Html, html } from '../../html.ts'
import { wordFor, type Words } from '../language/language.ts'
import type { DispatchView, EventView } from '../session/api.ts'
import { canBeTakenBack } from '../session/services.ts'
import { time } from './layout.ts'

const kinds: ReadonlySet<EventView['kind']> = new Set(['cancelling', 'cancelled', 'not_cancelled', 'cancel_unknown'])

function lastOf (events: readonly EventView[]): EventView | undefined {
  return events.findLast(({ kind }) => kinds.has(kind))
}

/** What has become of the last cancellation that was asked for. */
export function cancellationIn (words: Words, events: readonly EventView[]): Html | undefined {
  const last = lastOf(events)
  return last && html`${wordFor(words, 'event', last.kind)} ${time(last.at)}`
}

/** Whether there is something to take back, which nobody is taking back already. */
export function isCancellable ({ status, steps }: DispatchView, events: readonly EventView[]): boolean {
  if (status === 'queued' || status === 'running') return true
  return status !== 'cancelled' && lastOf(events)?.kind !== 'cancelling' &&
    steps.some((step) => step.status === 'accepted' && canBeTakenBack(step.service, step.deliveryStatus ?? null))
}
