import { type Html, html } from '../../html.ts'
import { creditsOf, serviceNames, wordFor, type Words } from '../language/language.ts'
import type { DispatchView, EventView, ProviderView } from '../session/api.ts'
import { canBeTakenBack } from '../session/services.ts'
import { visitOf } from '../session/visit.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import { time } from './layout.ts'
import { installedIn } from './provider-names.ts'

const kinds: ReadonlySet<EventView['kind']> = new Set(['cancelling', 'cancelled', 'not_cancelled', 'cancel_unknown'])

function lastOf (events: readonly EventView[]): EventView | undefined {
  return events.findLast(({ kind }) => kinds.has(kind))
}

/** What has become of the last cancellation that was asked for. */
export function cancellationIn (words: Words, events: readonly EventView[]): Html | undefined {
  const last = lastOf(events)
  return last && html`${wordFor(words, 'event', last.kind)} ${time(last.at)}`
}

/** Asks before a dispatch is cancelled: of each step what has become of it, and what was paid. */
export async function cancellation (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const at = encodeURIComponent(request.params.id)
  const { steps, recipient, documentNumber, services, creditsCharged } = await api.read<DispatchView>(`/api/v1/dispatches/${at}`)
  return {
    title: `${words.cancel}${words.colon}${documentNumber ?? serviceNames(words, services, ' + ')}`,
    says: [words.cancelIntro],
    touches: [
      [words.recipient, recipient],
      ...steps.map(({ service, status }) => [wordFor(words, 'service', service), wordFor(words, 'status', status)] as const),
      [words.price, creditsOf(words, creditsCharged)]
    ],
    button: words.cancel,
    back: `/console/dispatches/${at}`
  }
}

/** Whether there is something to take back, which nobody is taking back already. */
export function isCancellable (
  { status, steps }: DispatchView,
  { events, providers }: { events: readonly EventView[], providers: readonly ProviderView[] }
): boolean {
  if (status === 'queued' || status === 'running') return true
  return status !== 'cancelled' && lastOf(events)?.kind !== 'cancelling' &&
    steps.some(({ service, status: ended, providerName, deliveryStatus = null }) =>
      ended === 'accepted' && canBeTakenBack(service, deliveryStatus) && canCancel(providers, providerName, service)
    )
}

function canCancel (providers: readonly ProviderView[], code: string | null, service: string): boolean {
  return installedIn(providers, code ?? '')?.services?.[service]?.verbs.includes('cancel') === true
}
