import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A script of this folder in its own process. Its first message was `ready`. */
export type Child<Ready> = { ready: Ready, process: ChildProcess, stop: () => Promise<void> }

/** Starts a script with additional environment variables `env`, and waits until it is ready. Its standard output is read and dropped. */
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
