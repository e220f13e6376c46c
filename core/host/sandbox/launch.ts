/** Megabytes of an adapter's heap. */
const heap = 128

/** What an adapter's process may read: the runtime, its entry, its folder. */
export type Readables = { runtime: string, entry: string, folder: string }

/**
 * The command that starts the process of an adapter under Node's permission model: no network, no children, no workers, no addons, no
 * inspector, no WASI, no writing; reading of what it needs alone; no code from texts. It holds mistakes, not attackers.
 */
export function nodeCommand ({ runtime, entry, folder }: Readables): [string, ...string[]] {
  return [
    // Nothing reaches its environment, whatever watches or wraps the starting of processes.
    '/usr/bin/env',
    '-i',
    process.execPath,
    '--permission',
    `--allow-fs-read=${folder}/`,
    ...[...new Set([runtime, entry])].map((file) => `--allow-fs-read=${file}`),
    '--disallow-code-generation-from-strings',
    '--disable-proto=throw',
    '--no-experimental-sqlite',
    '--no-addons',
    '--disable-sigusr1',
    `--max-old-space-size=${heap}`,
    '--max-semi-space-size=2',
    runtime
  ]
}
