/**
 * A hostile company that holds all that it can get, and 300 hostile addresses that nobody has signed in from, to the service and with the
 * token given as arguments, until the process is ended.
 */
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { invoiceRequest } from './invoice.ts'
import { ask, post } from './post.ts'
import { smsRequest } from './sms.ts'

// Real attackers have their own machines. Here they get the processor time that the service leaves.
setPriority(19)

const [url = '', bearer = ''] = process.argv.slice(2)
const connectionsOfEach = 40

/** All of them lead to this machine, and the service tells them apart. */
const addresses = Array.from({ length: 300 }, (_, index) => `127.1.${Math.floor(index / 100)}.${index % 100 + 1}`)

/** Five megabytes, almost the largest permitted body: long texts, or more than a million objects. */
const longBody = JSON.stringify({ notes: Array.from({ length: 4900 }, () => 'x'.repeat(1000)) })
const manyBody = JSON.stringify({ notes: Array.from({ length: 1_600_000 }, () => ({})) })

let invoices = 0

const attacks: readonly (() => Promise<unknown>)[] = [
  () => post(url, '/auth', { username: 'attacker@bench.example.com', password: String(Math.random()) }),
  () => post(url, '/api/sms', smsRequest('flood'), bearer),
  trickle,
  () => post(url, '/api/sms/validate', longBody, bearer),
  () => post(url, '/api/sms/validate', manyBody, bearer),
  () => post(url, '/api/invoicing', invoiceRequest(`A-${++invoices}`), bearer),
  () => post(url, '/api/sms?async=true', smsRequest('flood'), bearer),
  () => ask(url, '/api/v1/dispatches?limit=100&recipient=%2B33612345678', { authorization: bearer }),
  () => ask(url, '/api/v1/dispatches/changes', { authorization: bearer })
]

/** What each address asks for, again and again: a sign-in, and then something with a key that does not exist. */
async function probe (localAddress: string): Promise<void> {
  await post(url, '/auth', { username: `${localAddress}@bench.example.com`, password: 'x' }, undefined, localAddress)
  await ask(url, '/api/v1/credits', { authorization: `Bearer dk_live_${'0'.repeat(43)}`, localAddress })
}

/** A request whose body is sent byte by byte, 10 milliseconds apart. */
async function trickle (): Promise<void> {
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

for (const address of addresses) void repeat(() => probe(address))
for (const attack of attacks) for (let connection = 0; connection < connectionsOfEach; connection++) void repeat(attack)
process.once('disconnect', () => {
  process.exit()
})
process.send?.('attacking')
