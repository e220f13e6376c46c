import type { Log } from '@dispatch/common'
import { release } from '@dispatch/tables'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, type Resource, resourceAttributesEnvDetector,
  resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOffSampler, AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, type Sampler, type SpanExporter,
  TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { TracesConfig } from '../config/traces.ts'

/** Milliseconds that a collector may take for a batch, and for the last ones of a process that stops. */
export type ExportLimits = { batch: number, close: number }
export const exportLimits: ExportLimits = { batch: 3_000, close: 3_000 }

/**
 * Sends spans to a collector, in batches. What it does not take within the limits is lost, with a warning; nobody waits for it. `close`
 * sends the last ones.
 */
export function openExporter (
  { url, serviceName, sampler }: TracesConfig,
  log: Log,
  { batch, close: closing } = exportLimits
): { provider: TracerProvider, close: () => Promise<void> } {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: batch, httpAgentOptions: (protocol) => agentOf(protocol) })
  const provider = new TracerProvider({
    resource: resourceOf(serviceName),
    sampler: samplerOf(sampler),
    spanProcessors: [new BatchSpanProcessor({ exporter: tellingOfFailures(exporter, log), exportTimeoutMillis: batch })]
  })
  return {
    provider,
    async close () {
      const ended = new AbortController()
      const late = pause(closing, 'late', { signal: ended.signal }).catch(() => 'in time')
      // A batch that fails has been told of already.
      const flushed = provider.shutdown().catch(() => undefined)
      if (await Promise.race([flushed, late]) === 'late') log.warn({ seconds: closing / 1000 }, 'the last spans were not taken in time')
      ended.abort()
    }
  }
}

/** Connections that do not keep a process running: a collector that does not answer must not hold up its end. */
function agentOf (protocol: string): HttpAgent | HttpsAgent {
  const agent = protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (...args) => {
    const socket = connect(...args)
    if (socket instanceof Socket) socket.unref()
    return socket
  }
  return agent
}

function tellingOfFailures (exporter: SpanExporter, log: Log): SpanExporter {
  return {
    export (spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) log.warn({ err: result.error, spans: spans.length }, 'spans could not be exported')
        done(result)
      })
    },
    shutdown: () => exporter.shutdown()
  }
}

/** A name of our own counts less than OTEL_RESOURCE_ATTRIBUTES, and OTEL_SERVICE_NAME more. */
function resourceOf (serviceName: string | undefined): Resource {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'document-dispatch', 'service.version': release }))
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
    .merge(resourceFromAttributes(serviceName === undefined ? {} : { 'service.name': serviceName }))
}

function samplerOf ({ name, ratio }: TracesConfig['sampler']): Sampler {
  const root = name.endsWith('always_on')
    ? new AlwaysOnSampler()
    : name.endsWith('always_off')
    ? new AlwaysOffSampler()
    : new TraceIdRatioBasedSampler(ratio)
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}
