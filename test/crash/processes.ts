import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, globSync } from 'node:fs'
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
  /** Stops the present process for so many seconds. */
  sleep: (seconds: number) => Promise<void>
  /** It stands still now: nobody expects it to answer. */
  asleep: boolean
  /** When it was killed: Unix time, milliseconds. */
  kills: number[]
  /** Since when it answers; for ever to come while it does not. */
  since: number
  stop: () => Promise<void>
  /** How it ended by itself, each time that it did after it had been ready. */
  gaveUp: string[]
}

/** `skew`: seconds that its clock is ahead, where clocks can be set. */
type Keeping = { env: NodeJS.ProcessEnv, log: string, skew: number, answers: () => Promise<boolean> }

/** Keeps a script of the checkout running; what it writes goes to `log`. `answers` tells whether it is ready. */
export function keep (script: string, { env, log, skew, answers }: Keeping): Kept {
  // By way of this process: where its own files may not grow, its log still does.
  const output = createWriteStream(log, { flags: 'a' }).setMaxListeners(0)
  const gaveUp: string[] = []
  const kills: number[] = []
  const end = new AbortController()
  const isOver = (): boolean => end.signal.aborted
  let child: ChildProcess
  let ready: Promise<boolean>

  async function becomeReady (started: ChildProcess): Promise<boolean> {
    while (isAlive(started)) {
      if (await answers()) {
        kept.since = Date.now()
        return true
      }
      await pause(50)
    }
    return false
  }

  async function run (): Promise<void> {
    while (!isOver()) {
      const started = spawn(process.execPath, [script], { cwd: root, env: { ...env, ...skewed(skew) }, stdio: ['ignore', 'pipe', 'pipe'] })
      child = started
      for (const stream of [started.stdout, started.stderr]) stream.pipe(output, { end: false })
      const ended = once(child, 'exit')
      ready = becomeReady(child)
      await ended
      kept.since = Infinity
      // A limit of files may end a process by a signal where a full disk never does: while it does not ignore the signal yet.
      if (child.signalCode === 'SIGKILL' || child.signalCode === 'SIGXFSZ') kills.push(Date.now())
      else if (await ready && !isOver()) gaveUp.push(`${script} ended with ${child.signalCode ?? String(child.exitCode)}`)
    }
  }

  const kept: Kept = {
    gaveUp,
    kills,
    asleep: false,
    since: Infinity,
    async ready () {
      while (!await ready) await pause(20)
      return child
    },
    kill () {
      child.kill('SIGKILL')
    },
    async sleep (seconds) {
      const sleeper = await kept.ready()
      kept.asleep = true
      sleeper.kill('SIGSTOP')
      await pause(seconds * 1000)
      sleeper.kill('SIGCONT')
      kept.asleep = false
    },
    async stop () {
      end.abort()
      child.kill('SIGTERM')
      await running
      output.end()
    }
  }
  const running = run()
  process.once('exit', () => child.kill('SIGKILL'))
  return kept
}

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null

/** The library that sets the clocks of processes: of Debian's package libfaketime, or where LIBFAKETIME says. */
const faketime = process.env['LIBFAKETIME'] ?? globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0]

/** What cannot be tried on this machine, and what it would take. */
export const missing: readonly string[] = [
  ...faketime === undefined ? ['clocks ahead and behind: no libfaketime (Debian: apt install libfaketime)'] : [],
  ...spawnSync('prlimit', ['--version']).status === 0 ? [] : ['full disks: no prlimit (Debian: apt install util-linux)']
]

/** Timers go by the machine's own clock, as they do where somebody sets the time. */
function skewed (seconds: number): NodeJS.ProcessEnv {
  return faketime === undefined || seconds === 0
    ? {}
    : { LD_PRELOAD: faketime, FAKETIME: `${seconds > 0 ? '+' : ''}${seconds}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
}

/**
 * Lets no file of a process grow beyond so many bytes for so many seconds, as on a disk that is full: RLIMIT_FSIZE, which needs no root.
 */
export async function fillDisk ({ pid }: ChildProcess, bytes: number, seconds: number): Promise<void> {
  const limit = (soft: string): void => {
    spawnSync('prlimit', ['--pid', String(pid), `--fsize=${soft}:unlimited`])
  }
  limit(String(bytes))
  await pause(seconds * 1000)
  limit('unlimited')
}

/** `cancelled`: the orders of what it has taken back. */
export type Vendor = {
  url: string
  receipts: () => Promise<Receipt[]>
  cancelled: () => Promise<string[]>
  tell: (message: ToVendor) => void
  stop: () => void
}

/** Starts the vendor; `onKill` kills the service at the instants that its scripts say. */
export async function startVendor ({ key, cert }: { key: string, cert: string }, onKill: () => void): Promise<Vendor> {
  const child = fork(fileURLToPath(new URL('vendor.ts', import.meta.url)), [key, cert])
  const tell = (message: ToVendor): void => {
    child.send(message)
  }
  const hear = <Kind extends FromVendor['kind']>(kind: Kind) =>
    new Promise<Extract<FromVendor, { kind: Kind }>>((resolve) => {
      child.on('message', function listen (message: FromVendor) {
        if (message.kind !== kind) return
        child.off('message', listen)
        resolve(message as Extract<FromVendor, { kind: Kind }>)
      })
    })
  const ask = (): Promise<Extract<FromVendor, { kind: 'told' }>> => {
    const told = hear('told')
    tell({ kind: 'tell' })
    return told
  }
  child.on('message', (message: FromVendor) => {
    if (message.kind !== 'kill') return
    onKill()
    tell({ kind: 'killed' })
  })
  const { url } = await hear('ready')
  return {
    url,
    tell,
    receipts: async () => (await ask()).receipts,
    cancelled: async () => (await ask()).cancelled,
    stop: () => child.disconnect()
  }
}
