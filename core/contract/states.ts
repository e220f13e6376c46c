/** The states of a dispatch. `failed`, `partial` and `uncertain` may run again. */
export const dispatchStatuses = ['queued', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled'] as const
export type DispatchStatus = typeof dispatchStatuses[number]

/**
 * The states of a step: what is known of its provider's answer. `waiting`: deferred, for an event of its dispatch; `skipped`: that event is
 * not to be expected any more.
 */
export const stepStatuses = ['planned', 'calling', 'accepted', 'rejected', 'unavailable', 'uncertain', 'waiting', 'skipped'] as const
export type StepStatus = typeof stepStatuses[number]

/** How far a deferred step has come. `running`: its event has come, and it is done or tried again by itself. */
export const deferredStates = ['waiting', 'running', 'done', 'failed', 'skipped'] as const
export type DeferredState = typeof deferredStates[number]

/** What the timeline of a dispatch tells: the word of each of its entries. */
export const eventKinds = ['planned', 'rendered', 'fetched', 'damaged', 'calling', 'answered', 'done', 'failed', 'resumed', 'released',
  'recovered', 'reconciled', 'corrected', 'resolved', 'cancelled', 'cancelling', 'not_cancelled', 'webhook', 'polled', 'skipped'] as const
export type EventKind = typeof eventKinds[number]

/** Who chose the provider of a step. */
export const choosers = ['request', 'user', 'company'] as const
export type ChosenBy = typeof choosers[number]

/** Whether the client waits for the end of a dispatch, or it is queued and the end called back. */
export type Mode = 'synchronous' | 'asynchronous'

/** Whose configuration a step is done with; nobody's where a provider stands in for another. */
export type ConfiguredBy = 'user' | 'company' | 'nobody'
