import { Socket } from 'node:net'
import { noName } from './stage.ts'

/** What the process does by the side of the kit: what it prints, and where it connects to. */
export type Watch = { printed: () => string, connected: () => readonly string[], stop: () => void }

type Tap = { print: (text: string) => void, connect: (host: string) => void }

const taps = new Set<Tap>()
let restore: (() => void) | undefined

/** Watches the whole process until it is stopped: connections to other machines are refused meanwhile. */
export function watchProcess (): Watch {
  const printed: string[] = []
  const connected: string[] = []
  const tap: Tap = { print: (text) => printed.push(text), connect: (host) => connected.push(host) }
  taps.add(tap)
  restore ??= install()
  return {
    printed: () => printed.join(''),
    connected: () => connected,
    stop () {
      taps.delete(tap)
      if (taps.size > 0) return
      restore?.()
      restore = undefined
    }
  }
}

function install (): () => void {
  const undo = [overhear(process.stdout), overhear(process.stderr), guardConnections()]
  return () => { for (const one of undo) one() }
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

/** Every way to another machine (http, https, fetch, tls) ends in this method. */
function guardConnections (): () => void {
  const own = Object.getOwnPropertyDescriptor(Socket.prototype, 'connect')
  const connect = own?.value as (this: Socket, ...given: unknown[]) => Socket
  Socket.prototype.connect = function (this: Socket, ...given: unknown[]): Socket {
    const host = hostOf(given)
    if (host === undefined) return connect.apply(this, given)
    for (const tap of taps) tap.connect(host)
    return this.destroy(new Error(`The conformance kit lets nothing reach "${host}".`))
  }
  return () => { if (own !== undefined) Object.defineProperty(Socket.prototype, 'connect', own) }
}

/** Where a connection leads, unless it stays on this machine. Node calls the method in several ways. */
function hostOf (given: readonly unknown[]): string | undefined {
  const [first, second] = given.flat(1)
  const { host, path } = typeof first === 'object' && first !== null ? first as { host?: unknown, path?: unknown } : { host: second }
  if (typeof path === 'string' || typeof host !== 'string') return undefined
  return thisMachine.test(host) || host === noName ? undefined : host
}

const thisMachine = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/
