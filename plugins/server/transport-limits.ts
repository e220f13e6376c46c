/** Limits for clients before they are authenticated. Times are in milliseconds. */
export type TransportLimits = {
  /** For the TLS handshake. */
  handshake: number
  /** For the head of a request, from the start of its connection or from its first byte. */
  head: number
  /** For a whole request. */
  request: number
  /** Between two checks for requests that take too long. */
  checkInterval: number
  /** Between two checks for a renewed certificate. */
  renewal: number
  /** For a client to receive an answer, in addition to the time that its bytes need at `minBytesPerSecond`. */
  answer: number
  minBytesPerSecond: number
  /** Open connections: of all clients together, and of one address. */
  connections: number
  connectionsOfAddress: number
  /** Unanswered requests on one connection. */
  pipelined: number
  /** Pipelined requests of all connections that are started in one turn of the event loop. */
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
