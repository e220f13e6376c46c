import t from 'tap'
import { matches } from '../../../../test/support/matching.ts'
import { failureOf } from '../../vendor-io/outcome/failure.ts'
import { createCalls } from '../calls.ts'
import { errorFrom } from '../errors.ts'
import { createFrameReader, encodeFrame, largestFrame, ProtocolFault } from '../frames.ts'

/** What a reader makes of bytes. */
const readAll = (bytes: Buffer, step = bytes.byteLength): { messages: unknown[], cut: boolean } => {
  const messages: unknown[] = []
  const reader = createFrameReader((message) => messages.push(message))
  for (let at = 0; at < bytes.byteLength; at += step) reader.take(bytes.subarray(at, at + step))
  return { messages, cut: reader.isCut() }
}

const framed = (json: string): Buffer => {
  const bytes = Buffer.from(json)
  const head = Buffer.alloc(4)
  head.writeUInt32BE(bytes.byteLength)
  return Buffer.concat([head, bytes])
}

void t.test('messages arrive as they were sent, however their bytes are cut', (t) => {
  const sent = [{ ask: 1, name: 'é"\\[' }, { to: 1, value: [[{}]] }, {}]
  const bytes = Buffer.concat(sent.map(encodeFrame))
  for (const step of [1, 3, 5, bytes.byteLength]) t.same(readAll(bytes, step), { messages: sent, cut: false })
  t.same(readAll(bytes.subarray(0, -1)), { messages: sent.slice(0, 2), cut: true }, 'the last one is cut')
  t.same(readAll(bytes.subarray(0, 2)), { messages: [], cut: true })
  t.end()
})

void t.test('what is no frame ends the connection before it is held', (t) => {
  const announced = Buffer.alloc(4)
  announced.writeUInt32BE(largestFrame + 1)
  const deep = '['.repeat(201) + ']'.repeat(201)
  for (const [what, bytes] of Object.entries({
    'too long': announced,
    'four gigabytes': Buffer.from('ffffffff', 'hex'),
    'a line of text': Buffer.from('hello, this was printed\n'),
    'no JSON': framed('{"a":'),
    'no object': framed('[1]'),
    'null': framed('null'),
    'too deep': framed(`{"a":${deep}}`)
  })) t.throws(() => readAll(bytes), ProtocolFault, what)
  t.same(readAll(framed(JSON.stringify({ a: '['.repeat(1000) }))).messages.length, 1, 'brackets in a text are none')
  t.throws(() => encodeFrame({ text: 'x'.repeat(largestFrame) }), RangeError)
  t.end()
})

void t.test('calls are answered by their numbers, and those out of order or unknown end the connection', async (t) => {
  const sent: object[] = []
  const calls = createCalls({
    send: (message) => sent.push(message),
    handlers: { echo: (args) => args, never: () => new Promise(() => undefined) },
    notes: {},
    maxCalls: 3
  })
  const first = calls.call('x', {})
  const second = calls.call('y', {})
  calls.take({ to: 2, value: 'second' })
  calls.take({ to: 1, error: { failure: { message: 'no', code: '7' } } })
  t.equal(await second, 'second')
  t.same(failureOf(await first.catch((error: unknown) => error)), { message: 'no', code: '7' })

  calls.take({ ask: 1, name: 'echo', args: { a: 1 } })
  for (const message of [
    { to: 9, value: 1 },
    { to: 1, value: 'again' },
    { ask: 1, name: 'echo' },
    { ask: 5, name: 'echo' },
    { ask: 'one', name: 'echo' },
    { note: 'echo' },
    {}
  ]) t.throws(() => calls.take(message), ProtocolFault, JSON.stringify(message))
  for (const name of ['unknown', 'constructor', '__proto__', 'toString']) {
    t.throws(() => createCalls({ send: () => undefined, handlers: {}, notes: {}, maxCalls: 1 }).take({ ask: 1, name }), ProtocolFault, name)
  }
  t.end()
})

void t.test('more calls than may be under way are refused', async (t) => {
  const sent: object[] = []
  const calls = createCalls({
    send: (message) => sent.push(message),
    handlers: { never: () => new Promise(() => undefined) },
    notes: {},
    maxCalls: 2
  })
  for (const ask of [1, 2, 3]) calls.take({ ask, name: 'never', args: {} })
  await new Promise(setImmediate)
  t.equal(sent.length, 1)
  matches(t, JSON.stringify(sent[0]), /^\{"to":3,"error":/)
  const waiting = calls.call('x', {})
  calls.end(new Error('It is gone.'))
  await t.rejects(waiting, { message: 'It is gone.' })
  await t.rejects(calls.call('x', {}), { message: 'It is gone.' })
})

void t.test('calls of more bytes than may be under way are refused, and those that are answered make room', async (t) => {
  const sent: object[] = []
  const first = Promise.withResolvers<number>()
  const calls = createCalls({
    send: (message) => sent.push(message),
    handlers: { wait: () => first.promise, quick: () => 2 },
    notes: {},
    maxCalls: 10,
    maxBytes: 100
  })
  calls.take({ ask: 1, name: 'wait', args: {} }, 60)
  calls.take({ ask: 2, name: 'quick', args: {} }, 60)
  await new Promise(setImmediate)
  first.resolve(1)
  await new Promise(setImmediate)
  calls.take({ ask: 3, name: 'quick', args: {} }, 60)
  await new Promise(setImmediate)
  const [refused, ...answered] = sent
  matches(t, JSON.stringify(refused), /^\{"to":2,"error":.*more than 100 bytes/)
  t.same(answered, [{ to: 1, value: 1 }, { to: 3, value: 2 }])
})

void t.test('what cannot be a failure is none', (t) => {
  for (const failure of [{}, { message: 1, code: 'x' }, { message: 'x' }, { message: 'x', word: 'toString' }, {
    message: 'x',
    code: 'x',
    status: '1'
  }]) {
    t.equal(failureOf(errorFrom({ failure })), undefined, JSON.stringify(failure))
  }
  t.equal(errorFrom('text').message, 'It failed, and did not say why.')
  t.equal(errorFrom({ message: 'x'.repeat(100_000) }).message.length, 4_000)
  t.end()
})
