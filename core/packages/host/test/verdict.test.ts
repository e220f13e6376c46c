import t from 'tap'
import { basic, hmac, vendorKey } from '../../../../test/core/work/support.ts'
import { createKeySources } from '../webhook/keys.ts'
import type { Verifier } from '../webhook/language.ts'
import { verifyWebhook } from '../webhook/verify.ts'

const at = new Date('2026-03-14T09:30:00.000Z')
const body = Buffer.from('{}')
const keys = createKeySources({
  fetchJson: () => Promise.reject(new Error('Nothing is fetched.')),
  now: () => at,
  onError: () => undefined
})

const byPassword: Verifier = { kind: 'basic', user: 'user', password: 'password' }
const byMac: Verifier = { kind: 'hmac', header: 'X-Mac', algorithm: 'sha256', encoding: 'hex', secret: 'secret' }
const login = { user: 'vendor', password: 'a password' }
const [password, mac] = [basic('vendor:a password'), { 'x-mac': hmac('a secret', '{}') }]
const [forgedPassword, forgedMac] = [basic('vendor:another'), { 'x-mac': hmac('another', '{}') }]

const verdict = async (headers: Record<string, string>, settings?: Record<string, string>, endpoint?: string) =>
  (await verifyWebhook([byPassword, byMac], { headers, body }, {
    ...settings === undefined ? {} : { settings: () => settings },
    endpoint,
    keys
  }, at)).verdict

await t.test('a configuration with the secret of one verifier is satisfied by that one, and by no other', async (t) => {
  t.equal(await verdict(mac, { secret: 'a secret' }), 'verified')
  t.equal(await verdict(password, { secret: 'a secret' }), 'no_signature')
  t.equal(await verdict(basic('server:server'), { secret: 'a secret' }, 'server:server'), 'no_signature',
    'nor by the credentials of the server')
  t.equal(await verdict(forgedMac, { secret: 'a secret' }), 'wrong_signature')
  t.equal(await verdict(password, login), 'verified')
  t.equal(await verdict(mac, login), 'no_signature')
})

await t.test('a configuration with the secrets of several asks for all of them', async (t) => {
  const both = { ...login, secret: 'a secret' }
  t.equal(await verdict({ ...password, ...mac }, both), 'verified')
  t.equal(await verdict(password, both), 'no_signature')
  t.equal(await verdict(mac, both), 'no_signature')
  t.equal(await verdict({ ...password, ...forgedMac }, both), 'wrong_signature')
  t.equal(await verdict({ ...forgedPassword, ...mac }, both), 'wrong_signature')
})

await t.test('without a secret of its own one of the others is enough: the credentials of the server', async (t) => {
  t.equal(await verdict(password, {}, 'vendor:a password'), 'verified')
  t.equal(await verdict(password, undefined, 'vendor:a password'), 'verified')
  t.equal(await verdict(forgedPassword, undefined, 'vendor:a password'), 'wrong_signature')
  t.equal(await verdict({ ...password, ...mac }, { secret: '' }), 'no_secret', 'an empty secret is none')
  t.equal(await verdict(mac), 'no_secret')
})

const [real, trial] = [vendorKey('k1'), vendorKey('k2')]
const jws = (key: typeof real, sandbox: boolean): Verifier => ({
  kind: 'jws',
  header: 'X-JWS',
  algorithm: 'PS256',
  jwks: { keys: [key.jwk] },
  sandbox
})
const environments = [jws(real, false), jws(trial, true)]
const signed = (by: typeof real, text = '{}') => verifyWebhook(environments, { headers: { 'x-jws': by.sign(text) }, body }, { keys }, at)

await t.test('the keys of an environment vouch for that environment', async (t) => {
  t.same(await signed(real), { verdict: 'verified', sandbox: false })
  t.same(await signed(trial), { verdict: 'verified', sandbox: true })
  t.same(
    await verifyWebhook([{ kind: 'jws', header: 'X-JWS', algorithm: 'PS256', jwks: { keys: [real.jwk] } }], {
      headers: { 'x-jws': real.sign('{}') },
      body
    }, { keys }, at),
    { verdict: 'verified', sandbox: null }
  )
})

await t.test('what neither environment has signed is worth another look at the keys, or nothing', async (t) => {
  t.equal((await signed(vendorKey('k3'))).verdict, 'unknown_key')
  t.equal((await signed(vendorKey('k1'))).verdict, 'unknown_key', 'the other environment may have a key of that name by now')
  t.same(await verifyWebhook(environments, { headers: {}, body }, { keys }, at), { verdict: 'no_signature' })
  t.same(await verifyWebhook([], { headers: { 'x-jws': real.sign('{}') }, body }, { keys }, at), { verdict: 'no_secret' })
})
