import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { FromVendor, Receipt, ToVendor } from './vendor.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A process that is started again whenever it ends, as a supervisor does it. */
export type Kept = {
  /** Resolves with the present process once it answers. */
  ready: () => Promise<ChildProcess>
  /** SIGKILL. */
  kill: () => void
  /** When it was killed: Unix time, milliseconds. */
  kills: number[]
  stop: () => Promise<void>
  /** How it ended by itself, each time that it did after it had been ready. */
  gaveUp: string[]
}

/** Keeps a script of the checkout running; what it writes goes to `log`. `answers` tells whether it is ready. */
export function keep (script: string, { env, log, answers }: { env: NodeJS.ProcessEnv, log: string, answers: () => Promise<boolean> }): Kept {
  const output = openSync(log, 'a')
  const gaveUp: string[] = []
  const kills: number[] = []
  const end = new AbortController()
  const isOver = (): boolean => end.signal.aborted
  let child: ChildProcess
  let ready: Promise<boolean>

  async function becomeReady (started: ChildProcess): Promise<boolean> {
    while (isAlive(started)) {
      if (await answers()) return true
      await pause(20)
    }
    return false
  }

  async function run (): Promise<void> {
    while (!isOver()) {
      child = spawn(process.execPath, [script], { cwd: root, env, stdio: ['ignore', output, output] })
      const ended = once(child, 'exit')
      ready = becomeReady(child)
      await ended
      if (child.signalCode === 'SIGKILL') kills.push(Date.now())
      else if (await ready && !isOver()) gaveUp.push(`${script} ended with ${child.signalCode ?? String(child.exitCode)}`)
    }
  }

  const running = run()
  process.once('exit', () => child.kill('SIGKILL'))
  return {
    gaveUp,
    kills,
    async ready () {
      while (!await ready) await pause(20)
      return child
    },
    kill () { child.kill('SIGKILL') },
    async stop () {
      end.abort()
      child.kill('SIGTERM')
      await running
    }
  }
}

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null

export type Vendor = { url: string, receipts: () => Promise<Receipt[]>, tell: (message: ToVendor) => void, stop: () => void }

/** Starts the vendor; `onKill` kills the service at the instants that its scripts say. */
export async function startVendor ({ key, cert }: { key: string, cert: string }, onKill: () => void): Promise<Vendor> {
  const child = fork(fileURLToPath(new URL('vendor.ts', import.meta.url)), [key, cert])
  const tell = (message: ToVendor): void => { child.send(message) }
  const hear = <Kind extends FromVendor['kind']>(kind: Kind) => new Promise<Extract<FromVendor, { kind: Kind }>>((resolve) => {
    child.on('message', function listen (message: FromVendor) {
      if (message.kind !== kind) return
      child.off('message', listen)
      resolve(message as Extract<FromVendor, { kind: Kind }>)
    })
  })
  child.on('message', (message: FromVendor) => {
    if (message.kind !== 'kill') return
    onKill()
    tell({ kind: 'killed' })
  })
  const { url } = await hear('ready')
  return {
    url,
    tell,
    async receipts () {
      const told = hear('told')
      tell({ kind: 'tell' })
      return (await told).receipts
    },
    stop: () => child.disconnect()
  }
}
