import { Socket } from 'node:net'
import { watchGlobals } from './globals.ts'
import { guardMachine } from './machine.ts'
import { nobody, noName } from './nobody.ts'

/**
 * What the process does besides: what it prints, which connections it opens, what code of the folder does to the machine, the keys that it
 * signs with, errors that nobody awaits, and changes of globals (told once).
 */
export type Watch = {
  printed: () => string
  connected: () => readonly string[]
  used: () => readonly string[]
  keys: () => readonly SigningKey[]
  unhandled: () => readonly unknown[]
  changedGlobals: () => readonly string[]
  stop: () => void
}

/** A key with which code of the folder signs, and by which function of Node. */
export type SigningKey = { how: string, key: string }

type Tap = {
  folder: string
  print: (text: string) => void
  connect: (host: string) => void
  use: (what: string) => void
  sign: (key: SigningKey) => void
  unhandled: (error: unknown) => void
}

const taps = new Set<Tap>()
let restore: (() => void) | undefined

/** Watches the whole process until it is stopped. `folder` is a real path. Meanwhile connections to other machines are refused. */
export function watchProcess (folder: string): Watch {
  const printed: string[] = []
  const connected: string[] = []
  const used: string[] = []
  const keys: SigningKey[] = []
  const unhandled: unknown[] = []
  const tap: Tap = {
    folder,
    print: (text) => printed.push(text),
    connect: (host) => connected.push(host),
    use: (what) => used.push(what),
    sign: (key) => keys.push(key),
    unhandled: (error) => unhandled.push(error)
  }
  taps.add(tap)
  restore ??= install()
  return {
    printed: () => printed.join(''),
    connected: () => connected,
    used: () => used,
    keys: () => keys,
    unhandled: () => unhandled,
    changedGlobals: watchGlobals(),
    stop () {
      taps.delete(tap)
      if (taps.size > 0) return
      restore?.()
      restore = undefined
    }
  }
}

function install (): () => void {
  const undo = [
    overhear(process.stdout),
    overhear(process.stderr),
    guardConnections(),
    guardMachine(() => [...taps].map((tap) => tap.folder), {
      used (folder, what) {
        for (const tap of tapsOf(folder)) tap.use(what)
      },
      keyed (folder, how, key) {
        for (const tap of tapsOf(folder)) tap.sign({ how, key })
      }
    }),
    catchUnhandled('unhandledRejection'),
    catchUnhandled('uncaughtException')
  ]
  return () => {
    for (const one of undo) one()
  }
}

function tapsOf (folder: string): Tap[] {
  return [...taps].filter((tap) => tap.folder === folder)
}

/** Takes the place of whoever listens: a test framework would fail its test. */
function catchUnhandled (event: 'unhandledRejection' | 'uncaughtException'): () => void {
  const others = process.rawListeners(event) as (() => void)[]
  const listen = (error: unknown): void => {
    const stack = error instanceof Error ? error.stack ?? '' : ''
    const own = [...taps].filter(({ folder }) => stack.includes(`${folder}/`))
    for (const tap of own.length > 0 ? own : taps) tap.unhandled(error)
  }
  process.removeAllListeners(event).on(event, listen)
  return () => {
    process.off(event, listen)
    for (const other of others) process.on(event, other)
  }
}

function overhear (stream: NodeJS.WriteStream): () => void {
  const write = stream.write.bind(stream)
  const own = Object.getOwnPropertyDescriptor(stream, 'write')
  stream.write = (text: string | Uint8Array, ...rest: never[]) => {
    for (const tap of taps) tap.print(String(text))
    return write(text, ...rest)
  }
  return () => {
    Reflect.deleteProperty(stream, 'write')
    if (own !== undefined) Object.defineProperty(stream, 'write', own)
  }
}

/** All connections (http, https, fetch, tls) begin in this method. Connections that are not the kit's are sent to a closed port. */
function guardConnections (): () => void {
  const own = Object.getOwnPropertyDescriptor(Socket.prototype, 'connect')
  const connect = own?.value as (this: Socket, ...given: unknown[]) => Socket
  Socket.prototype.connect = function (this: Socket, ...given: unknown[]): Socket {
    const [to, ...rest] = given.flat(1)
    const options: To = typeof to === 'object' && to !== null ? to : { port: to, host: rest.find((value) => typeof value === 'string') }
    if (staysHere(options)) return connect.apply(this, given)
    for (const tap of taps) tap.connect(String(options.host))
    return connect.call(this, { ...options, ...nobody }, ...rest.filter((value) => typeof value === 'function'))
  }
  return () => {
    if (own !== undefined) Object.defineProperty(Socket.prototype, 'connect', own)
  }
}

/** Node calls the method with options, or with a port and a host, and sometimes with a list of them. */
type To = { host?: unknown, port?: unknown, path?: unknown }

function staysHere ({ host, path }: To): boolean {
  return typeof path === 'string' || typeof host !== 'string' || host === noName || /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host)
}
