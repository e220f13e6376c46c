import { createHmac } from 'node:crypto'
import t from 'tap'
import { keptRequest } from '../webhook/kept-request.ts'
import { createKeySources } from '../webhook/keys.ts'
import type { Verifier } from '../webhook/language.ts'
import { createVendorSigningKey, signDelivery } from '../webhook/sign.ts'
import { verifyWebhook } from '../webhook/verify.ts'

const at = new Date('2026-03-14T09:30:00.000Z')
const now = at.getTime() / 1000
const keys = createKeySources({
  fetchJson: () => Promise.reject(new Error('Nothing is fetched.')),
  now: () => at,
  onError: () => undefined
})

const svix: Verifier = { kind: 'standard', prefix: 'Svix', secret: 'secret' }
const stripe: Verifier = { kind: 'stamped', header: 'Stripe-Signature', secret: 'secret' }
const whsec = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

async function verdict (verify: Verifier, headers: Record<string, string>, { body = '{}', secret = whsec, when = at } = {}) {
  const by = { settings: () => ({ secret }), endpoint: undefined, keys }
  return (await verifyWebhook([verify], { headers, body: Buffer.from(body) }, by, when)).verdict
}

/** The headers of svix, signed as its documentation says. */
function bySvix ({ id = 'msg_1', time = String(now), body = '{}', secret = whsec } = {}) {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return { 'svix-id': id, 'svix-timestamp': time, 'svix-signature': `v1,${mac(key, `${id}.${time}.${body}`).toString('base64')}` }
}

await t.test('the example of the specification of Standard Webhooks is verified', async (t) => {
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  }
  const event = { body: '{"test": 2432232314}', when: new Date(1614265330_000) }
  t.equal(await verdict({ kind: 'standard', secret: 'secret' }, headers, event), 'verified')
  t.equal(await verdict({ kind: 'standard', secret: 'secret' }, headers, { ...event, body: '{"test": 2432232315}' }), 'wrong_signature')
  t.equal(await verdict(svix, headers, event), 'no_signature', 'under other names')
})

await t.test('Standard Webhooks: id, time and body are signed, and one of several signatures suffices', async (t) => {
  const good = bySvix()
  const signature = good['svix-signature']
  for (const [headers, expected] of [
    [good, 'verified'],
    [{ ...good, 'svix-signature': `v1,AAAA v1a,${signature} ${signature}` }, 'verified'],
    [{ ...good, 'svix-signature': signature.replace('v1,', 'v2,') }, 'malformed_signature'],
    [{ ...good, 'svix-signature': signature.slice(3) }, 'malformed_signature'],
    [{ ...good, 'svix-signature': 'v1,' }, 'wrong_signature'],
    [{ ...good, 'svix-signature': '' }, 'no_signature'],
    [{ ...good, 'svix-id': 'msg_2' }, 'wrong_signature'],
    [{ ...good, 'svix-id': '' }, 'malformed_signature'],
    [{ ...good, 'svix-id': 'msg_1, msg_1' }, 'wrong_signature'],
    [{ ...good, 'svix-timestamp': String(now + 1) }, 'wrong_signature'],
    [{ ...good, 'svix-timestamp': `${now}, ${now}` }, 'wrong_time'],
    [{ 'svix-id': 'msg_1', 'svix-signature': signature }, 'wrong_time'],
    [bySvix({ time: String(now - 300) }), 'verified'],
    [bySvix({ time: String(now - 301) }), 'wrong_time'],
    [bySvix({ time: String(now + 301) }), 'wrong_time'],
    [bySvix({ secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAA' }), 'wrong_signature'],
    [bySvix({ body: '{ }' }), 'wrong_signature']
  ] as const) t.equal(await verdict(svix, headers), expected, JSON.stringify(headers))
  const huge = `"${'x'.repeat(2 * 1024 * 1024)}"`
  t.equal(await verdict(svix, bySvix({ body: huge }), { body: huge }), 'verified', 'two mebibytes')
  t.equal(await verdict({ ...svix, tolerance: 10 }, bySvix({ time: String(now - 11) })), 'wrong_time')
  t.equal(await verdict(svix, bySvix(), { secret: whsec.slice('whsec_'.length) }), 'verified', 'a secret without its prefix')
})

await t.test('a part of the body of Standard Webhooks cannot pass for its time', async (t) => {
  const old = now - 86_400
  const headers = bySvix({ time: String(old), body: `${now}.{}` })
  t.equal(await verdict(svix, { ...headers, 'svix-id': `msg_1.${old}`, 'svix-timestamp': String(now) }), 'malformed_signature')
})

await t.test('without a usable secret nobody is believed', async (t) => {
  const empty = mac(Buffer.alloc(0), `msg_1.${now}.{}`).toString('base64')
  for (const secret of ['whsec_', 'whsec_!', 'not base64']) {
    t.equal(await verdict(svix, { ...bySvix(), 'svix-signature': `v1,${empty}` }, { secret }), 'no_secret', secret)
  }
  t.equal(await verdict(svix, { ...bySvix(), 'svix-signature': `v1,${empty}` }, { secret: '' }), 'no_secret')
  t.equal(await verdict(stripe, { 'stripe-signature': `t=${now},v1=${mac('', `${now}.{}`).toString('hex')}` }, { secret: '' }), 'no_secret')
})

await t.test('Stripe: the time in the header is signed, and one of several signatures suffices', async (t) => {
  const hex = (time: number | string, secret = whsec) => mac(secret, `${time}.{}`).toString('hex')
  const right = hex(now)
  for (const [text, expected] of [
    [`t=${now},v1=${right}`, 'verified'],
    [`t=${now}, v1=${right}`, 'verified'],
    [`t=${now},v1=00,v1=${right},v0=00`, 'verified'],
    [`t=${now},v0=${right}`, 'malformed_signature'],
    [`t=${now},v1=${hex(now, 'another')}`, 'wrong_signature'],
    [`t=${now},v1=`, 'wrong_signature'],
    [`v1=${right}`, 'malformed_signature'],
    [`t=${now},t=${now},v1=${right}`, 'malformed_signature'],
    [`t=${now + 1},v1=${right}`, 'wrong_signature'],
    [`t=${now - 300},v1=${hex(now - 300)}`, 'verified'],
    [`t=${now - 301},v1=${hex(now - 301)}`, 'wrong_time'],
    [`t=${now + 301},v1=${hex(now + 301)}`, 'wrong_time'],
    [`t=,v1=${hex('')}`, 'wrong_time'],
    [right, 'malformed_signature'],
    ['', 'no_signature']
  ] as const) t.equal(await verdict(stripe, { 'stripe-signature': text }), expected, text)
  t.equal(await verdict(stripe, { 'stripe-signature': `t=${now},v1=${right}` }, { body: '{} ' }), 'wrong_signature')
  t.equal(await verdict({ ...stripe, tolerance: 10 }, { 'stripe-signature': `t=${now - 11},v1=${hex(now - 11)}` }), 'wrong_time')
})

await t.test('what the kit signs in these ways is what is verified, and an event that waits keeps the headers', async (t) => {
  const by = { key: createVendorSigningKey('k1'), settings: { secret: whsec }, endpoint: '' }
  for (const verify of [svix, stripe, { kind: 'standard', secret: 'secret' }] as const) {
    const { headers } = await signDelivery([verify], Buffer.from('{}'), by, at)
    t.equal(await verdict(verify, headers as Record<string, string>), 'verified')
    t.equal(await verdict(verify, headers as Record<string, string>, { body: '{ }' }), 'wrong_signature')
    t.same(keptRequest([verify], { headers: { ...headers, cookie: 'c' }, body: Buffer.alloc(0) }).headers, headers)
  }
})
