import type { FastifyReply } from 'fastify'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { ownSignal } from '../hooks/own-request.ts'

/** Server-sent events as the answer of a request (HTML, 9.2). */
export type EventStream = {
  /** Sends an event with data as JSON. A client that comes again names the last `id` that it got. */
  send: (event: string, data: object, id?: string) => void
  /** Tells a client the id that it names when it comes again. */
  mark: (id: string) => void
  /** Resolves when the client has taken what was sent, or the stream is over. */
  taken: () => Promise<void>
  /** The last event; what was sent before still arrives. */
  end: () => void
  /** Resolves when the answer has ended, or its client has gone. */
  over: Promise<void>
}

/** Bytes that wait for a client; one that takes them more slowly is disconnected. */
const maxWaiting = 256 * 1024

/** Milliseconds after which an empty line keeps a connection alive: proxies close those that are silent for 30 to 60 seconds. */
const heartbeat = 15_000

/** Milliseconds after which a client whose connection has ended comes again. */
const comeAgain = 2_000

/** Answers with a stream of events, which ends after so many seconds. */
export function openEventStream (reply: FastifyReply, seconds: number): EventStream {
  const stream = new PassThrough()
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  const write = (text: string): void => {
    if (stream.writable) stream.write(text)
    if (stream.writableLength > maxWaiting) stream.destroy()
  }
  const end = (): void => {
    if (stream.writable) stream.end('event: end\ndata: {}\n\n')
  }
  const beat = setInterval(() => write('\n'), heartbeat).unref()
  const last = setTimeout(end, seconds * 1000).unref()
  const gone = (): void => {
    stream.destroy()
  }
  const { raw, request } = reply
  raw.once('close', gone)
  ownSignal(request.raw)?.addEventListener('abort', gone, { once: true })
  stream.once('close', () => {
    clearInterval(beat)
    clearTimeout(last)
    resolve(undefined)
  })
  write(`retry: ${comeAgain}\n\n`)
  // A proxy that collects an answer would keep the events back.
  void reply.type('text/event-stream').header('x-accel-buffering', 'no').send(stream)
  return {
    send: (event, data, id) => write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    mark: (id) => write(`id: ${id}\n\n`),
    async taken () {
      while (stream.writable && stream.writableNeedDrain) await Promise.race([once(stream, 'drain'), over])
    },
    end,
    over
  }
}
