import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { scripts } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { scripts: { start: string } }

/** A script of this folder in its own process. Its first message was `ready`. */
export type Child<Ready> = { ready: Ready, process: ChildProcess, stop: () => Promise<void> }

/**
 * Starts a script with additional environment variables `env`, and waits until it is ready. Its standard output is read and dropped.
 * `options`: of Node.
 */
export async function startChild<Ready> (
  script: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  options: readonly string[] = []
): Promise<Child<Ready>> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
    execArgv: [...process.execArgv, ...options]
  })
  const [ready] = await Promise.race([once(child, 'message'), died(child, script)]) as [Ready]
  return {
    ready,
    process: child,
    async stop () {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    }
  }
}

/** The options with which `npm start` limits the memory of Node. */
export const memoryOptions: readonly string[] = scripts.start.match(/--(?:max-semi-space-size|heap-growing-percent)=\d+/g) ?? []

async function died (child: ChildProcess, script: string): Promise<never> {
  const [code] = await once(child, 'exit') as [number | null]
  throw new Error(`${script} ended with ${String(code)}.`)
}
