import { type Log, type Observations, onObservation } from '@dispatch/common'
import { DispatchError, spanChannel, type SpanName } from '@dispatch/contract'
import { type Attributes, type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api'
import type { TracesConfig } from '../config/traces.ts'
import { type Current, current } from '../hooks/trace-context.ts'
import { type ExportLimits, openExporter } from './exporter.ts'

/** A request to trace. `begun`: in epoch milliseconds; `parent`: the `traceparent` that it came with, where it is honoured. */
export type TracedRequest = { method: string, route: string, begun: number, parent?: string | undefined }

/** The traces of a process. */
export type Traces = {
  /** Begins the span of a request, which its answer ends. */
  request: (request: TracedRequest) => Current
  answered: (request: Current, status: number) => void
  /** Ends what was begun, and sends the last spans within three seconds. */
  close: () => Promise<void>
}

/**
 * Traces what this process does, and sends it to a collector. A dispatch is named by its id alone. No span names a company, a person, a
 * receiver or an address, or has a text of any of them.
 */
export function openTraces (config: TracesConfig, { log, limits }: { log: Log, limits?: ExportLimits }): Traces {
  const { provider, close } = openExporter(config, log, limits)
  const tracer = provider.getTracer('document-dispatch')
  const stops = [...spanNames.map((name) => follow(tracer, name)), ...decorations(), ...leaves(tracer)]
  return {
    request ({ method, route, begun, parent }) {
      const known = knownMethods.has(method) ? method : '_OTHER'
      const span = tracer.startSpan(`${known === '_OTHER' ? 'HTTP' : known} ${route}`, {
        kind: SpanKind.SERVER,
        startTime: begun,
        attributes: { 'http.request.method': known, 'http.route': route }
      }, contextOf({ traceparent: parent }))
      return { span, of: 'request', outer: current.getStore() }
    },
    answered ({ span }, status) {
      span.setAttribute('http.response.status_code', status)
      if (status >= 500) fail(span, String(status))
      span.end()
    },
    close () {
      for (const stop of stops) stop()
      return close()
    }
  }
}

const knownMethods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'])

const spanNames: readonly SpanName[] = ['dispatch', 'step', 'attempt', 'reconciliation', 'callback', 'webhook']

/** What the facts of a span may be. */
type Facts = { services?: string, service?: string, provider?: string, dispatchId?: string, traceparent?: string }

/** What a span is called. */
const titles: Record<SpanName, (facts: Facts) => string> = {
  dispatch: ({ services }) => `dispatch ${services ?? ''}`,
  step: ({ service }) => `step ${service ?? ''}`,
  attempt: ({ provider }) => `call ${provider ?? ''}`,
  reconciliation: ({ service }) => `reconcile ${service ?? ''}`,
  callback: () => 'callback',
  webhook: () => 'webhook'
}

const outgoing: readonly SpanName[] = ['attempt', 'callback']

/** Begins and ends the spans of a name. The work within finds them as its current ones. */
function follow (tracer: Tracer, name: SpanName): () => void {
  const { start, asyncEnd } = spanChannel(name)
  const open = new WeakMap<object, Span>()
  const end = (message: unknown): void => {
    const span = open.get(message as object)
    const { error } = message as { error?: unknown }
    if (error !== undefined) fail(span, error instanceof DispatchError ? error.word : 'exception')
    span?.end()
  }
  start.bindStore(current, (message) => {
    const facts = message as Facts
    const { traceparent, dispatchId: id, ...rest } = facts
    const kind = outgoing.includes(name) ? SpanKind.CLIENT : SpanKind.INTERNAL
    const span = tracer.startSpan(titles[name](facts), { kind, attributes: named({ ...rest, ...id === undefined ? {} : { id } }) },
      contextOf({ traceparent }))
    open.set(facts, span)
    return { span, of: name, outer: current.getStore() }
  })
  asyncEnd.subscribe(end)
  return () => {
    start.unbindStore(current)
    asyncEnd.unsubscribe(end)
  }
}

/** What is observed within a span becomes its attributes. Times are its own. */
function decorations (): (() => void)[] {
  const decorate = (name: keyof Observations, of: readonly SpanName[], isFailure: (word: string) => boolean): () => void =>
    onObservation(name, (observation) => {
      const { seconds: _, ...facts } = { seconds: 0, ...observation }
      const span = nearest(of)
      span?.setAttributes(named(facts))
      const { outcome } = facts as { outcome?: string }
      if (outcome !== undefined && isFailure(outcome)) fail(span, outcome)
    })
  const unless = (good: string) => (word: string): boolean => word !== good
  return [
    decorate('dispatch', ['dispatch', 'reconciliation'], () => false),
    decorate('step', ['step', 'reconciliation'], unless('accepted')),
    decorate('attempt', ['attempt'], unless('accepted')),
    decorate('callback', ['callback'], unless('delivered')),
    decorate('webhook', ['webhook'], () => false)
  ]
}

/** What is observed once it has ended, with nothing within. */
function leaves (tracer: Tracer): (() => void)[] {
  const leaf = (name: string, kind: SpanKind, seconds: number, attributes: Attributes, failure?: string): void => {
    const now = Date.now()
    const span = tracer.startSpan(name, { kind, attributes, startTime: now - seconds * 1000 }, contextOf({}))
    if (failure !== undefined) fail(span, failure)
    span.end(now)
  }
  return [
    onObservation('rendering', ({ format, outcome, seconds }) => {
      leaf(`render ${format}`, SpanKind.INTERNAL, seconds, named({ format, outcome }), outcome === 'made' ? undefined : outcome)
    }),
    onObservation('databaseRequest', ({ operation, failed, seconds }) => {
      // What is asked beside any work, such as by the queue, is no trace.
      if (current.getStore() === undefined) return
      const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': operation }
      leaf(`postgresql ${operation}`, SpanKind.CLIENT, seconds, attributes, failed ? 'database_error' : undefined)
    }),
    onObservation('vendorRequest', ({ provider, method, status, seconds }) => {
      const answered = status === 'none' ? {} : { 'http.response.status_code': Number(status) }
      const failure = status === 'none' || Number(status) >= 400 ? status : undefined
      leaf(method, SpanKind.CLIENT, seconds, { ...named({ provider }), 'http.request.method': method, ...answered },
        failure === 'none' ? 'no_answer' : failure)
    })
  ]
}

/** Attributes of our own, under one name. */
function named (facts: object): Attributes {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [`dispatch.${name}`, String(value)]))
}

/** Marks a span as failed, by a word: messages of errors may have texts of others. */
function fail (span: Span | undefined, word: string): void {
  span?.setAttribute('error.type', word).setStatus({ code: SpanStatusCode.ERROR })
}

function nearest (of: readonly SpanName[]): Span | undefined {
  let found = current.getStore()
  while (found !== undefined && (found.of === 'request' || !of.includes(found.of))) found = found.outer
  return found?.span
}

/** The context in which a span begins: the current one, else the one of a request that asked for the work before. */
function contextOf ({ traceparent }: { traceparent?: string | undefined }): Context {
  const store = current.getStore()
  if (store !== undefined) return trace.setSpan(ROOT_CONTEXT, store.span)
  const [, traceId = '', spanId = '', flags = ''] = parts.exec(traceparent ?? '') ?? []
  if (traceId === '' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true })
}

/** W3C Trace Context, 3.2; later versions may have more parts. */
const parts = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
