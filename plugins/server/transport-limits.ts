/** What clients may cost before anything is known of them. Times are in milliseconds. */
export type TransportLimits = {
  /** For the handshake of TLS. */
  handshake: number
  /** For the head of a request, from the opening of its connection or its first byte. */
  head: number
  /** For a whole request. */
  request: number
  /** Between two looks for requests that have taken too long. */
  checkInterval: number
  /** Between two looks for a renewed certificate. */
  renewal: number
  /** For taking an answer, beside what its bytes need at `slowest` (bytes a second). */
  answer: number
  minBytesPerSecond: number
  /** Open connections, of all clients and of one address. */
  connections: number
  connectionsOfAddress: number
  /** Requests of one connection that wait for their answers. */
  pipelined: number
  /** Requests, of all connections, that are begun in a turn of the event loop although they stand behind another of their connection. */
  pipelinedAtOnce: number
}

const second = 1000

export const transportLimits: TransportLimits = {
  handshake: 30 * second,
  head: 30 * second,
  request: 120 * second,
  checkInterval: 5 * second,
  renewal: 10 * second,
  answer: 60 * second,
  minBytesPerSecond: 16 * 1024,
  connections: 10_000,
  connectionsOfAddress: 2500,
  pipelined: 100,
  pipelinedAtOnce: 16
}
