import { Socket } from 'node:net'
import { nobody, noName } from './vendor-double.ts'

/** What the process does besides: what it prints, and which connections it opens. */
export type Watch = { printed: () => string, connected: () => readonly string[], stop: () => void }

type Tap = { print: (text: string) => void, connect: (host: string) => void }

const taps = new Set<Tap>()
let restore: (() => void) | undefined

/** Watches the whole process until it is stopped. Meanwhile connections to other machines are refused. */
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
  return () => {
    for (const one of undo) one()
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
