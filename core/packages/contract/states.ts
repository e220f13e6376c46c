/** The states of a dispatch. A dispatch that is `failed`, `partial` or `uncertain` may run again. */
export const dispatchStatuses = ['queued', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled'] as const
export type DispatchStatus = typeof dispatchStatuses[number]

/**
 * The states of a step: what is known about its provider's answer. `waiting`: the step is deferred until an event of its dispatch.
 * `skipped`: that event can no longer come.
 */
export const stepStatuses = ['planned', 'calling', 'accepted', 'rejected', 'unavailable', 'uncertain', 'waiting', 'skipped'] as const
export type StepStatus = typeof stepStatuses[number]

/**
 * The states of steps that dispatches are searched by; the others pass within seconds, or follow from the state of the dispatch. `failed`:
 * `rejected`, or `unavailable` at the end of its dispatch.
 */
export const searchedStepStatuses = ['accepted', 'rejected', 'unavailable', 'uncertain', 'waiting', 'skipped', 'failed'] as const

/** The state of a deferred step. `running`: its event has come, and the step is running or is retried automatically. */
export const deferredStates = ['waiting', 'running', 'done', 'failed', 'skipped'] as const
export type DeferredState = typeof deferredStates[number]

/** The kinds of the entries in the timeline of a dispatch. */
export const eventKinds = ['planned', 'rendered', 'fetched', 'damaged', 'calling', 'answered', 'done', 'failed', 'resumed', 'released',
  'recovered', 'reconciled', 'corrected', 'resolved', 'cancelled', 'cancelling', 'not_cancelled', 'cancel_unknown', 'webhook', 'polled',
  'skipped', 'moved', 'saying', 'said', 'not_said', 'say_unknown'] as const
export type EventKind = typeof eventKinds[number]

/** Who chose the provider of a step. */
export const choosers = ['request', 'user', 'company'] as const
export type ChosenBy = typeof choosers[number]

/** Whether the client waits for the result, or the dispatch is queued and a callback reports the result. */
export type Mode = 'synchronous' | 'asynchronous'

/** Whose configuration a step uses; `nobody` where the simulator replaces the provider. */
export type ConfiguredBy = 'user' | 'company' | 'nobody'
