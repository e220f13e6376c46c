/**
 * A hostile company that holds all that it can get of one thing, 300 hostile addresses that nobody has signed in from, or all at once: to
 * the service, with the token and in the way given as arguments, until the process is ended.
 */
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { invoiceRequest } from './invoice.ts'
import { ask, post } from './post.ts'
import { smsRequest } from './sms.ts'

// Real attackers have their own machines. Here they get the processor time that the service leaves.
setPriority(19)

const [url = '', chosen = '', network = '', ...bearers] = process.argv.slice(2)

/** All of them lead to this machine, and the service tells them apart. */
const addresses = Array.from({ length: 300 }, (_, index) => `127.${network}.${Math.floor(index / 100)}.${index % 100 + 1}`)

/** Five megabytes, almost the largest permitted body: long texts, or more than a million objects. */
const longBody = JSON.stringify({ notes: Array.from({ length: 4900 }, () => 'x'.repeat(1000)) })
const manyBody = JSON.stringify({ notes: Array.from({ length: 1_600_000 }, () => ({})) })

let invoices = 0

/** What each of the company's users does again and again. */
const attacks: Readonly<Record<string, (bearer: string) => Promise<unknown>>> = {
  passwords: () => post(url, '/auth', { username: 'attacker@bench.example.com', password: String(Math.random()) }),
  dispatches: (bearer) => post(url, '/api/sms', smsRequest('flood'), bearer),
  'slow bodies': trickle,
  'long bodies': (bearer) => post(url, '/api/sms/validate', longBody, bearer),
  'bodies of a million objects': (bearer) => post(url, '/api/sms/validate', manyBody, bearer),
  documents: (bearer) => post(url, '/api/invoicing', invoiceRequest(`A-${++invoices}`), bearer),
  'queued dispatches': (bearer) => post(url, '/api/sms?async=true', smsRequest('flood'), bearer),
  lists: (bearer) => ask(url, '/api/v1/dispatches?limit=100&recipient=%2B33612345678', { authorization: bearer }),
  streams: (bearer) => ask(url, '/api/v1/dispatches/changes', { authorization: bearer })
}

/** What each address asks for, again and again: a sign-in, and then something with a key that does not exist. */
async function probe (localAddress: string): Promise<void> {
  await post(url, '/auth', { username: `${localAddress}@bench.example.com`, password: 'x' }, undefined, localAddress)
  await ask(url, '/api/v1/credits', { authorization: `Bearer dk_live_${'0'.repeat(43)}`, localAddress })
}

/** A request whose body is sent byte by byte, 10 milliseconds apart. */
async function trickle (bearer: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  socket.write(
    `POST /api/sms HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${bearer}\r\nContent-Type: application/json\r\nContent-Length: ` +
      '100000\r\n\r\n'
  )
  while (!socket.destroyed) {
    socket.write(' ')
    await pause(10)
  }
}

async function repeat (attack: () => Promise<unknown>): Promise<never> {
  for (;;) await attack()
}

if (chosen === '300 addresses' || chosen === 'all at once') { for (const address of addresses) void repeat(() => probe(address)) }
for (const [name, attack] of Object.entries(attacks)) {
  if (chosen !== name && chosen !== 'all at once') continue
  for (const bearer of bearers) void repeat(() => attack(bearer))
}
process.once('disconnect', () => {
  process.exit()
})
process.send?.('attacking')
