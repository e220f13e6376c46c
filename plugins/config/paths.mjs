// Plain JavaScript, because the cache of compiled modules needs it before any TypeScript is read.
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The path of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The path of the data directory: `DISPATCH_DATA_DIR`, else `data` in the repository. An empty variable counts as absent.
 * @param {NodeJS.ProcessEnv} env
 */
export function dataDirectoryOf (env) {
  const path = env['DISPATCH_DATA_DIR'] ?? ''
  return resolve(path === '' ? join(root, 'data') : path)
}
