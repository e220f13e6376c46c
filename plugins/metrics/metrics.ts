import { type Observations, onObservation } from '@dispatch/common'
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'

/** The metrics of a process; `close` stops counting. */
export type Metrics = { registry: Registry, close: () => void }

/** Upper bounds in seconds: of what this process does, and of what others take their time for. */
const own = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const others = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** What is counted since the process began. No metric names a company, a dispatch, a person or an address. */
export function createMetrics (): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  // Gauges with the name of a counter, which promtool refuses; their counts by type stay.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`)
  const stops: (() => void)[] = []

  /** A counter of one observation, whose fields are the labels. */
  function count<Name extends keyof Observations> (
    of: Name,
    name: string,
    help: string,
    labelNames: readonly (keyof Observations[Name] & string)[]
  ): void {
    const counter = new Counter({ name: `dispatch_${name}`, help, labelNames, registers: [registry] })
    stops.push(onObservation(of, (observation) => {
      counter.inc(labelsOf(observation, labelNames))
    }))
  }

  /** The same with the time that it took. */
  function time<Name extends 'attempt' | 'callback' | 'rendering' | 'request' | 'vendorRequest'> (
    of: Name,
    name: string,
    help: string,
    { labels: labelNames, buckets }: { labels: readonly (keyof Observations[Name] & string)[], buckets: number[] }
  ): void {
    const histogram = new Histogram({ name: `dispatch_${name}`, help, labelNames, buckets, registers: [registry] })
    stops.push(onObservation(of, (observation) => {
      histogram.observe(labelsOf(observation, labelNames), observation.seconds)
    }))
  }

  time('request', 'http_request_duration_seconds', 'Requests to the service, by the pattern of their route.', {
    labels: ['method', 'route', 'status'],
    buckets: own
  })
  count('dispatch', 'dispatches_total', 'Dispatches that ended or became uncertain, by the first service of their chain.', [
    'service',
    'status'
  ])
  count('step', 'steps_total', 'Outcomes of steps that were recorded.', ['service', 'provider', 'outcome'])
  time('attempt', 'attempt_duration_seconds', 'Calls of providers that dispatch something.', {
    labels: ['service', 'provider', 'outcome'],
    buckets: others
  })
  time('vendorRequest', 'vendor_request_duration_seconds', 'HTTP requests to vendors, by the status of their answer.', {
    labels: ['provider', 'status'],
    buckets: others
  })
  time('rendering', 'rendering_duration_seconds', 'Documents and texts made of templates, the wait for a thread included.', {
    labels: ['format', 'outcome'],
    buckets: own
  })
  time('callback', 'callback_duration_seconds', 'Callbacks sent to their receivers.', { labels: ['outcome'], buckets: others })
  count('webhook', 'webhooks_total', 'Events of vendors, by what became of them when they came in.', ['service', 'provider', 'verdict'])
  const lost = new Counter({ name: 'dispatch_leases_lost_total', help: 'Leases that runs of this process lost.', registers: [registry] })
  stops.push(onObservation('leasesLost', ({ runs }) => {
    lost.inc(runs)
  }))
  count('adapterCrash', 'adapter_crashes_total', 'Processes of adapters that ended by themselves.', ['provider'])
  return {
    registry,
    close () {
      for (const stop of stops) stop()
    }
  }
}

function labelsOf<Name extends string> (observation: Partial<Record<Name, unknown>>, names: readonly Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, String(observation[name])])) as Record<Name, string>
}
