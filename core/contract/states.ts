/** The states of a dispatch. `failed` and `uncertain` may run again. */
export const dispatchStatuses = ['running', 'succeeded', 'failed', 'uncertain'] as const
export type DispatchStatus = typeof dispatchStatuses[number]

/** The states of a step: what is known of its provider's answer. */
export const stepStatuses = ['planned', 'calling', 'accepted', 'rejected', 'unavailable', 'uncertain'] as const
export type StepStatus = typeof stepStatuses[number]

/** Who chose the provider of a step. */
export const choosers = ['request', 'user', 'company'] as const
export type ChosenBy = typeof choosers[number]
