import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { ConfigError } from '../plugins/config/config.ts'

/**
 * Creates the data directory. Other users may traverse it, because the embedded database of a service that runs as root has another user.
 * From then on all files of the process are private to its user. Throws a ConfigError when the directory cannot be used.
 */
export function openDataDirectory (path: string): void {
  try {
    if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o711 })
    // With the dot, the call fails for a file, which is not a directory.
    accessSync(`${path}/.`, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException
    throw new ConfigError(
      `The data directory ${path} cannot be used (${errno === undefined ? message : getSystemErrorMessage(errno)}): give the ` +
        'service access to it, or choose another one with DISPATCH_DATA_DIR.',
      { cause: error }
    )
  }
  process.umask(0o077)
}
