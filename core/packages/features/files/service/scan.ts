import { isRecord } from '@dispatch/common'
import { createNetwork } from '@dispatch/vendor-io'
import type { Readable } from 'node:stream'
import { askClamd, type ClamdPlace } from './clamd.ts'

/** What a scanner says of a file: it is clean, it does harm (`name`: how), or it is too large to be scanned. */
export type Verdict = { verdict: 'clean' | 'too large' } | { verdict: 'infected', name: string }

type File = { bytes: Readable, size: number }

/** Asks a scanner about a file. Throws where it does not answer. */
export type Scan = (file: File) => Promise<Verdict>

/** Milliseconds for a whole file. */
const timeoutMs = 60_000
/** The longest answer in bytes, and the longest name of what was found in characters. */
const [longestAnswer, longestName] = [64 * 1024, 200]

/** The operator has chosen the address: it may be any. */
const everywhere = { allow: ['0.0.0.0/0', '::/0'], loopback: 'allowed' } as const

/**
 * A scanner at an address of the operator's: clamd by TCP, or a service by HTTP. The scan throws where it does not answer in time or in
 * another form.
 */
export function createScan (place: { url: string } | ClamdPlace): Scan {
  if (!('url' in place)) return async ({ bytes }) => verdictOf(await askClamd(place, bytes, timeoutMs))
  const url = new URL(place.url)
  return async (file) => {
    const network = createNetwork(everywhere)
    try {
      return await askByHttp(network.transport, url, file)
    } finally {
      await network.close()
    }
  }
}

/** `stream: OK`, `stream: Eicar-Signature FOUND`, `INSTREAM size limit exceeded. ERROR`: clamd(8). */
function verdictOf (answer: string): Verdict {
  if (answer.endsWith(': OK')) return { verdict: 'clean' }
  const name = /^[^:]*: (.+) FOUND$/.exec(answer)?.[1]
  if (name !== undefined) return infected(name)
  if (/size limit exceeded/i.test(answer)) return { verdict: 'too large' }
  throw new Error(`The scanner answered "${answer.slice(0, longestName)}".`)
}

type Transport = ReturnType<typeof createNetwork>['transport']

/** The bytes are the body of a POST; the answer is `{ "clean": true }`, or `{ "clean": false, "name": "Eicar-Signature" }`. */
async function askByHttp (transport: Transport, url: URL, { bytes, size }: File): Promise<Verdict> {
  const credentials = url.username === '' ? {} : { authorization: `Basic ${Buffer.from(secretOf(url)).toString('base64')}` }
  const address = new URL(url)
  address.username = address.password = ''
  const { status, body } = await transport.send({
    method: 'POST',
    url: address,
    headers: { 'content-type': 'application/octet-stream', 'content-length': String(size), accept: 'application/json', ...credentials },
    body: bytes,
    signal: AbortSignal.timeout(timeoutMs),
    answerWithin: timeoutMs
  })
  const answer = await textOf(body)
  if (status === 413) return { verdict: 'too large' }
  const said: unknown = status === 200 ? JSON.parse(answer) : undefined
  if (isRecord(said) && said['clean'] === true) return { verdict: 'clean' }
  if (isRecord(said) && said['clean'] === false) return infected(typeof said['name'] === 'string' ? said['name'] : 'unknown')
  throw new Error(`The scanner answered ${status} without "clean".`)
}

function secretOf ({ username, password }: URL): string {
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
}

async function textOf (body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = Buffer.alloc(0)
  for await (const piece of body) {
    text = Buffer.concat([text, piece])
    if (text.length > longestAnswer) throw new Error('The answer of the scanner is too long.')
  }
  return text.toString()
}

function infected (name: string): Verdict {
  return { verdict: 'infected', name: name.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, longestName) }
}
