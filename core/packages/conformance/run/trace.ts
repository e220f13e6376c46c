import type { InstalledProvider } from '@dispatch/host'

/** An error with the lines of its stack that lie in the folder. */
export function errorWithStack (error: unknown, folder: string): string {
  if (!(error instanceof Error)) return String(error)
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && line.includes(`${folder}/`))
  return [`${error.name}: ${error.message}`, ...frames.map((frame) => frame.replaceAll(/\?provider-load=\d+/g, ''))].join('\n')
}

/** The same provider; an error that its readers of events throw has its stack in its message, of which a refusal shows nothing else. */
export function withTracedReaders (installed: InstalledProvider): InstalledProvider {
  const { eventReaders, folder } = installed
  const readers = Object.entries(eventReaders).map(([service, read]) =>
    [service, async (event: unknown, account?: string) => {
      try {
        return await read(event, account)
      } catch (cause) {
        throw new Error(errorWithStack(cause, folder), { cause })
      }
    }] as const
  )
  return { ...installed, eventReaders: Object.fromEntries(readers) }
}
