import type { SpanName } from '@dispatch/contract'
import type { Span } from '@opentelemetry/api'
import { AsyncLocalStorage } from 'node:async_hooks'

/** A span under way, and the one in which it began. */
export type Current = { span: Span, of: SpanName | 'request', outer?: Current | undefined }

/** The span of the work that is being done. Nothing here loads OpenTelemetry. */
export const current = new AsyncLocalStorage<Current>()

/** The W3C `traceparent` of the work that is being done; undefined where it is not traced. */
export function traceparent (): string | undefined {
  const store = current.getStore()
  if (store === undefined) return undefined
  const { traceId, spanId, traceFlags } = store.span.spanContext()
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`
}

/** What a log line says of its trace. */
export function traceFields (): { trace_id?: string } {
  const store = current.getStore()
  return store === undefined ? {} : { trace_id: store.span.spanContext().traceId }
}
