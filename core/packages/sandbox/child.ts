import { AdapterEnded, runAsHost } from '@dispatch/host'
import type { Log } from '@dispatch/host/provider'
import { createRedactor } from '@dispatch/vendor-io'
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { createCalls } from './calls.ts'
import { createFrameReader, encodeFrame, largestFrame, ProtocolFault } from './frames.ts'
import type { Launch } from './launch.ts'
import type { InsideCalls } from './protocol.ts'
import { createRelay, type Inside, type Relay } from './relay.ts'

/** The process of an adapter. */
export type Child = {
  ask: Inside
  relay: Relay
  pid: number | undefined
  /** Ends it at once, with everything that it has begun. `why` stands in the log; without it, it was not needed any more. */
  kill: (why?: string) => void
  /** Resolves once it has ended: to why, where that was its own doing. */
  ended: Promise<string | undefined>
}

/** `launch` says how it is started; `code` is the adapter's. */
export type ChildOptions = { launch: Launch, folder: string, code: string, log: Log }

/** Calls of an adapter that may be under way at once, and their bytes: four of the largest frames. */
const maxCalls = 256
const maxBytes = 4 * largestFrame
/** Bytes of its standard error that are kept for the log, and those after which it is ended. */
const keptWords = 4_000
const maxWords = 1024 * 1024

/** Milliseconds between the end of a process's output and its own. */
const endWithin = 200

/** Starts the process of an adapter: an empty environment, a group of its own, frames on its standard input and output. */
export function startChild ({ launch: { command: [program, ...args], opened, user }, folder, code, log }: ChildOptions): Child {
  const file = opened === undefined ? undefined : openSync(opened, 'r')
  const process = spawn(program, args, {
    cwd: folder,
    env: {},
    stdio: ['pipe', 'pipe', 'pipe', ...file === undefined ? [] : [file]],
    detached: true,
    ...(user !== undefined && { uid: user, gid: user })
  })
  if (file !== undefined) closeSync(file)
  const { stdin, stdout, stderr } = process
  if (stdin === null || stdout === null || stderr === null) throw new Error('A process was started without its pipes.')
  let closing: { why: string | undefined } | undefined
  const ask = async <Name extends keyof InsideCalls>(name: Name, requested: object): Promise<ReturnType<InsideCalls[Name]>> =>
    await calls.call(name, requested) as ReturnType<InsideCalls[Name]>
  const relay = createRelay(ask, { code, log })
  const send = (message: object): void => void stdin.write(encodeFrame(message))
  const calls = createCalls({ send, handlers: relay.handlers, notes: relay.notes, maxCalls, maxBytes })

  function kill (why?: string): void {
    closing ??= { why }
    endGroup(process)
  }

  const reader = createFrameReader(calls.take)
  stdout.on('data', (piece: Buffer) => {
    if (closing !== undefined) return
    try {
      reader.take(piece)
    } catch (error) {
      kill(error instanceof ProtocolFault ? error.message : `What it sent cannot be taken: ${String(error)}`)
    }
  })
  stdout.on('end', () => {
    // A process that ends says so right after.
    setTimeout(() => {
      if (process.exitCode === null && process.signalCode === null) kill(`It closed its output${reader.isCut() ? ' inside a frame' : ''}.`)
    }, endWithin).unref()
  })
  const words = wordsOf(stderr, () => kill('It flooded its standard error.'))
  // The end of a process says more than the pipe that broke with it.
  stdin.on('error', () => undefined)

  const ended = Promise.withResolvers<string | undefined>()
  const finish = (exit: object, how: string): void => {
    const why = closing === undefined ? how : closing.why
    const { text } = createRedactor(relay.given())
    const reported = why === undefined ? undefined : text(why)
    if (reported !== undefined) {
      log.error({ provider: code, ...exit, stderr: text(words()) }, `the process of an adapter ended: ${reported}`)
    }
    calls.end(new AdapterEnded(`The process of the adapter ended: ${reported ?? 'it was not needed any more.'}`))
    ended.resolve(reported)
  }
  process.once('error', (error) => finish({ err: error }, 'It could not be started.'))
  process.once('close', (exitCode, signal) => finish({ exitCode, signal }, 'It ended by itself.'))
  return { ask, relay, pid: process.pid, kill, ended: ended.promise }
}

/** Ends a process and whatever it has begun. */
function endGroup (process: ChildProcess): void {
  const { pid } = process
  if (pid === undefined || process.exitCode !== null || process.signalCode !== null) return
  try {
    runAsHost(() => globalThis.process.kill(-pid, 'SIGKILL'))
  } catch {
    // It has ended meanwhile, or has no group yet.
    process.kill('SIGKILL')
  }
}

/** The first words of a standard error; `flood` is called once there are too many. */
function wordsOf (stderr: Readable, flood: () => void): () => string {
  let kept = ''
  let taken = 0
  stderr.on('data', (piece: Buffer) => {
    if (kept.length < keptWords) kept += piece.toString().slice(0, keptWords - kept.length)
    taken += piece.byteLength
    if (taken > maxWords) flood()
  })
  return () => kept
}
