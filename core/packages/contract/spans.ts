import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'

/**
 * Work that takes its time and has other work within, for whoever traces it. As of an observation, nothing of it names a company or a
 * person; a dispatch is named by its id alone. `traceparent` (W3C Trace Context): of the request that asked for it, where it was traced.
 * What comes of the work is observed within it.
 */
export type Spans = {
  /** A run of a dispatch, or of one step beside its path. `services`: of its path, such as `invoicing/esign`. */
  dispatch: { services: string, dispatchId: string, traceparent?: string }
  step: { service: string }
  /** A provider's call that dispatches something. */
  attempt: { service: string, provider: string }
  /** The outcome of an uncertain step is looked for. */
  reconciliation: { service: string, provider: string, dispatchId: string, traceparent?: string }
  /** A callback is sent. */
  callback: { traceparent?: string }
  /** An event of a vendor comes in. */
  webhook: object
}

export type SpanName = keyof Spans

const channels = new Map<SpanName, TracingChannel>()

/** The channel on which the spans of a name begin and end: their facts are its messages. */
export function spanChannel (name: SpanName): TracingChannel {
  let found = channels.get(name)
  if (found === undefined) channels.set(name, found = tracingChannel(`document-dispatch:span:${name}`))
  return found
}

/** Does work within a span. Costs next to nothing where nobody traces. */
export function within<Name extends SpanName, Result> (name: Name, facts: Spans[Name], work: () => Promise<Result>): Promise<Result> {
  const spans = spanChannel(name)
  return spans.hasSubscribers ? spans.tracePromise(work, { ...facts }) : work()
}
