import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A script of this folder in a process of its own, which has sent `ready` as its first message. */
export type Child<Ready> = { ready: Ready, process: ChildProcess, stop: () => Promise<void> }

/**
 * Starts a script, with `env` on top of the environment, and waits until it is ready. What it writes on standard output is dropped, as a
 * pipe that somebody reads would take it.
 */
export async function startChild<Ready> (script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Child<Ready>> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...env }
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

async function died (child: ChildProcess, script: string): Promise<never> {
  const [code] = await once(child, 'exit') as [number | null]
  throw new Error(`${script} ended with ${String(code)}.`)
}
