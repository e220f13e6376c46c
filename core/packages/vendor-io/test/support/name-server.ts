import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Test } from 'tap'

/** A NAPTR record of a name. */
export type Naptr = { order?: number, flags?: string, service?: string, regexp: string }

/** What a name server does with a name: its records, or a code of RFC 1035 (2: failure, 3: no such name). */
type Answers = Readonly<Record<string, readonly Naptr[] | number>>

/** A name server on this machine, by UDP. A name that it does not have is no name (3). It notes what it is asked. */
export async function nameServer (t: Test, answers: Answers): Promise<{ address: string, requested: string[] }> {
  const socket = createSocket('udp4')
  const requested: string[] = []
  socket.on('message', (question, { port, address }) => {
    const { name, end } = nameIn(question)
    requested.push(name)
    const found = answers[name] ?? 3
    const records = typeof found === 'number' ? [] : found.map(recordOf)
    const header = Buffer.from(question.subarray(0, 12))
    header.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2)
    header.writeUInt16BE(records.length, 6)
    header.writeUInt32BE(0, 8)
    socket.send(Buffer.concat([header, question.subarray(12, end + 4), ...records]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, requested }
}

function nameIn (question: Buffer): { name: string, end: number } {
  const labels: string[] = []
  let at = 12
  while (question[at] !== 0) {
    const length = question[at] ?? 0
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** Of the name in the question, for a minute. */
function recordOf ({ order = 100, flags = 'U', service = 'Meta:SMP', regexp }: Naptr): Buffer {
  const numbers = Buffer.alloc(4)
  numbers.writeUInt16BE(order, 0)
  numbers.writeUInt16BE(10, 2)
  const data = Buffer.concat([numbers,
    ...[flags, service, regexp].map((text) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])), Buffer.from([0])])
  const head = Buffer.from([0xc0, 12, 0, 35, 0, 1, 0, 0, 0, 60, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
