import { type Embedded, startEmbedded } from '@dispatch/embedded-postgres'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { whenCut } from './cut.ts'

/** Runs work with its own embedded database server, in a folder that is deleted afterwards. `settings`: of the server. */
export async function withBenchDatabase<Result> (
  work: (server: Embedded, folder: string) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {}
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-bench-'))
  const server = await startEmbedded({ dir: join(folder, 'postgres'), settings })
  const whole = whenCut(() => {
    process.kill(server.pid, 'SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  try {
    return await work(server, folder)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
    whole()
  }
}
