export type Json = Record<string, unknown>

/** A dispatch in one line. */
export function lineOf ({ dispatchId, status, createdAt, services, recipient }: Json): string {
  const texts = [dispatchId, status, createdAt, (services as string[] | undefined)?.join('/'), recipient] as (string | undefined)[]
  return texts.filter((one) => one !== undefined).join(' ')
}

/** The name of a provider behind a step. */
export function nameIn (providerName: unknown): string {
  return typeof providerName === 'string' ? ` ${providerName}` : ''
}

/** Warnings, each in a line of its own. */
export function warningsOf ({ warnings }: Json): string {
  return ((warnings ?? []) as { path: string, message: string }[]).map(({ path, message }) => `\n  ${path}: ${message}`).join('')
}
