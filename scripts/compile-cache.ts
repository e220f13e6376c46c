import { existsSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { dataDirectoryOf } from '../plugins/config/paths.ts'

/**
 * Keeps the compiled modules of this process in the data directory, from which later starts take them: they are ready about a third sooner.
 * They are written when the process ends. The first start has no data directory yet. A folder that cannot be written changes nothing.
 */
export function keepCompiledModules (env: NodeJS.ProcessEnv): void {
  const dataDirectory = dataDirectoryOf(env)
  if (!existsSync(dataDirectory)) return
  const folder = join(dataDirectory, 'compiled')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch {
    // The start itself tells what is wrong with the data directory.
    return
  }
  enableCompileCache(folder)
}
