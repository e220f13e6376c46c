/** How many events a service has refused, as its log tells it, by `service provider reason`. */
export function webhookRefusals (log: readonly string[]): Record<string, number> {
  const lines = log.filter((line) => line.includes('"webhook refused"')).map((line) =>
    JSON.parse(line) as { service: string, provider: string, reason: string, times: number }
  )
  return Object.fromEntries(lines.map(({ service, provider, reason, times }) => [`${service} ${provider} ${reason}`, times]))
}
