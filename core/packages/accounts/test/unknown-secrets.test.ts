import { ClientGone, createUnknownSecrets, onBehalfOf } from '@dispatch/accounts'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createGate } from '../../../../test/support/gate.ts'
import { has } from '../../../../test/support/matching.ts'

const secretOf = (name: string): Buffer => Buffer.from(name)

await t.test('made-up secrets are looked up two at a time, addresses in turns; one that was found before waits for none', async (t) => {
  const secrets = createUnknownSecrets()
  const found = (): Promise<object> => Promise.resolve({})
  await secrets.find(secretOf('session'), '192.0.2.1', found)
  const gate = createGate()
  const looked: string[] = []
  const missing = async (digest: Buffer): Promise<undefined> => {
    looked.push(digest.toString())
    await gate.pass()
  }
  const flood = Array.from({ length: 300 }, (_, one) => secrets.find(secretOf(`made up ${one}`), `198.51.100.${one % 3}`, missing))
  await setImmediate()
  t.equal(looked.length, 2)
  has(t, await secrets.find(secretOf('session'), '192.0.2.2', found), {}, 'it is known, wherever it comes from')
  const other = secrets.inTurn('192.0.2.3', () => Promise.resolve(looked.length))
  gate.open()
  t.ok(await other <= 5, 'another address waits for one of each that was before it')
  await Promise.all(flood)
})

await t.test('a secret that is found no more is looked up in turn again', async (t) => {
  const secrets = createUnknownSecrets()
  const [secret, address] = [secretOf('ended'), '192.0.2.1']
  await secrets.find(secret, address, () => Promise.resolve({}))
  await secrets.find(secret, address, () => Promise.resolve(undefined))
  const gate = createGate()
  const others = ['192.0.2.2', '192.0.2.3'].map((other) => secrets.inTurn(other, () => gate.pass()))
  let looked = false
  const again = secrets.find(secret, address, () => {
    looked = true
    return Promise.resolve(undefined)
  })
  await setImmediate()
  t.notOk(looked)
  gate.open()
  await Promise.all([again, ...others])
})

await t.test('too many are refused, and what nobody waits for any more is not looked up', async (t) => {
  const secrets = createUnknownSecrets()
  const gate = createGate()
  const running = ['192.0.2.1', '192.0.2.2'].map((address) => secrets.inTurn(address, () => gate.pass()))
  const waiting = Array.from({ length: 500 }, () => secrets.inTurn('192.0.2.1', () => Promise.resolve()))
  const refused = await secrets.inTurn('192.0.2.1', () => Promise.resolve()).catch((error: unknown) => error)
  has(t, refused, { word: 'rate_limited', retryAfter: 1 })
  const gone = new AbortController()
  const departed = onBehalfOf({ owner: () => 'a', gone: () => gone.signal, waits: () => undefined },
    () => secrets.inTurn('192.0.2.3', () => Promise.reject(new Error('It was looked up.'))))
  gone.abort(new ClientGone())
  await t.rejects(departed, { name: 'ClientGone' })
  gate.open()
  await Promise.all([...running, ...waiting])
})
