import { isDeeper, isRecord } from '@dispatch/common'

/** What the other side sent that no well-behaved one sends: its connection ends. */
export class ProtocolFault extends Error {
  override name = 'ProtocolFault'
}

/** Bytes of one frame: the largest reply of a vendor (5 MiB) as JSON, with what stands around it. */
export const largestFrame = 16 * 1024 * 1024
/** Arrays and objects inside each other: what is read is walked recursively afterwards. */
const deepest = 200
/** Bytes of the length that stands before each frame. */
const prefix = 4

/** A message as it is sent: the length of its JSON in bytes (32 bits, big-endian), then the JSON. */
export function encodeFrame (message: object): Buffer {
  const json = Buffer.from(JSON.stringify(message))
  if (json.byteLength > largestFrame) throw new RangeError(`A message has more than ${largestFrame} bytes.`)
  const frame = Buffer.allocUnsafe(prefix + json.byteLength)
  frame.writeUInt32BE(json.byteLength)
  json.copy(frame, prefix)
  return frame
}

/** Puts frames together from the pieces in which they arrive. Throws a {@link ProtocolFault}; nothing is taken after that. */
export function createFrameReader (onMessage: (message: Readonly<Record<string, unknown>>, bytes: number) => void): {
  take: (piece: Buffer) => void
  /** Whether a frame has begun that has not ended. */
  isCut: () => boolean
} {
  let pieces: Buffer[] = []
  let held = 0
  /** Bytes of the frame that is being put together, once its length is known. */
  let size: number | undefined

  /** Takes bytes off the front; all of them must be there. */
  function shift (bytes: number): Buffer {
    const whole = pieces.length === 1 ? pieces[0] ?? Buffer.alloc(0) : Buffer.concat(pieces)
    pieces = [whole.subarray(bytes)]
    held -= bytes
    return whole.subarray(0, bytes)
  }

  return {
    take (piece) {
      pieces.push(piece)
      held += piece.byteLength
      for (;;) {
        if (size === undefined && held >= prefix) size = shift(prefix).readUInt32BE()
        if (size === undefined) return
        if (size > largestFrame) throw new ProtocolFault(`A frame of ${size} bytes was announced; ${largestFrame} are the most.`)
        if (held < size) return
        const json = shift(size)
        size = undefined
        onMessage(decode(json), json.byteLength)
      }
    },
    isCut: () => held > 0 || size !== undefined
  }
}

function decode (json: Buffer): Readonly<Record<string, unknown>> {
  if (isDeeper(json, deepest)) throw new ProtocolFault(`A frame holds more than ${deepest} arrays and objects inside each other.`)
  const message = parse(json)
  if (!isRecord(message)) throw new ProtocolFault('A frame is no JSON object.')
  return message
}

function parse (json: Buffer): unknown {
  try {
    return JSON.parse(json.toString())
  } catch (cause) {
    throw new ProtocolFault('A frame is no JSON.', { cause })
  }
}
