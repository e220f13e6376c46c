import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Readable } from 'node:stream'

/** Where a daemon of ClamAV listens. */
export type ClamdPlace = { path: string } | { host: string, port: number }

/** The longest answer in bytes. */
const longest = 4096

/**
 * What clamd says of some bytes (`INSTREAM` of clamd(8)): each piece with its length before it, an empty one at the end. Throws where it
 * does not answer within so many milliseconds.
 */
export async function askClamd (place: ClamdPlace, bytes: Readable, timeoutMs: number): Promise<string> {
  const socket = connect(place)
  const late = setTimeout(() => socket.destroy(new Error('The scanner did not answer in time.')), timeoutMs)
  try {
    // A daemon that has heard enough answers before the end, and closes.
    const answered = answerOf(socket)
    await Promise.race([answered, write(socket, bytes)])
    return await answered
  } finally {
    clearTimeout(late)
    bytes.destroy()
    socket.destroy()
  }
}

async function answerOf (socket: Socket): Promise<string> {
  let answer = Buffer.alloc(0)
  for await (const piece of socket as AsyncIterable<Buffer>) {
    answer = Buffer.concat([answer, piece])
    const end = answer.indexOf(0)
    if (end !== -1) return answer.toString('utf8', 0, end)
    if (answer.length > longest) break
  }
  throw new Error('The scanner gave no answer.')
}

async function write (socket: Socket, bytes: Readable): Promise<void> {
  const put = async (piece: Uint8Array | string): Promise<void> => {
    if (!socket.write(piece)) await once(socket, 'drain')
  }
  await put('zINSTREAM\0')
  for await (const piece of bytes as AsyncIterable<Buffer>) {
    await put(lengthOf(piece))
    await put(piece)
  }
  await put(lengthOf([]))
}

function lengthOf ({ length }: { length: number }): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  return bytes
}
