import { ConfigError } from './config-error.ts'

/**
 * Where spans are sent (the whole URL), under which name, and which are. The exporter reads the other variables of OpenTelemetry itself:
 * headers, time limit, compression, certificates.
 */
export type TracesConfig = { url: string, serviceName?: string, sampler: { name: SamplerName, ratio: number } }

const samplers = ['always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off',
  'parentbased_traceidratio'] as const

type SamplerName = typeof samplers[number]

/** Reads the variables of OpenTelemetry. Without an endpoint there are no traces. */
export function tracesOf (env: NodeJS.ProcessEnv): { traces?: TracesConfig } {
  const url = urlOf(env)
  if (url === undefined || env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return {}
  const serviceName = env['OTEL_SERVICE_NAME']
  requireJson(env)
  return { traces: { url, ...(serviceName === undefined ? {} : { serviceName }), sampler: samplerOf(env) } }
}

/** The address of the traces alone is whole; to the one of all signals, the path of traces is added. It may hold credentials. */
function urlOf (env: NodeJS.ProcessEnv): string | undefined {
  const [own, shared] = [env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'], env['OTEL_EXPORTER_OTLP_ENDPOINT']]
  const text = own ?? shared
  if (text === undefined) return undefined
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    const name = own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
    throw new ConfigError(`${name} is no address of a collector; it must be like http://collector:4318.`)
  }
  return own === undefined ? `${text.replace(/\/+$/, '')}/v1/traces` : text
}

function requireJson (env: NodeJS.ProcessEnv): void {
  const given = env['OTEL_EXPORTER_OTLP_PROTOCOL'] ?? 'http/json'
  if (given === 'http/json') return
  throw new ConfigError(`OTEL_EXPORTER_OTLP_PROTOCOL is "${given}"; the service speaks http/json, which collectors take at port 4318.`)
}

function samplerOf (env: NodeJS.ProcessEnv): TracesConfig['sampler'] {
  const given = env['OTEL_TRACES_SAMPLER'] ?? 'parentbased_always_on'
  const name = samplers.find((one) => one === given)
  if (name === undefined) throw new ConfigError(`OTEL_TRACES_SAMPLER is "${given}"; it must be one of ${samplers.join(', ')}.`)
  const text = env['OTEL_TRACES_SAMPLER_ARG'] ?? '1'
  if (!/^(0|1|[01]?\.\d{1,9})$/.test(text) || Number(text) > 1) {
    throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG is "${text}"; it must be a share of the traces from 0 to 1, such as 0.1.`)
  }
  return { name, ratio: Number(text) }
}
