import fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import type { JsonObject } from '../../common/json.ts'
import { createKeyring } from '../../common/keyring.ts'
import type { SettingsSchema } from '../settings/settings-schema.ts'
import { changeSettings, checkSettings, maskSettings, mergeSettings, openSecrets, openSettings, sealSecrets, splitSecrets,
  type StoredSettings, type Vault } from '../settings/settings.ts'

const text = { type: 'string', minLength: 1 }
const numbers = { type: 'array', items: { type: 'integer' } }
const form: SettingsSchema = {
  type: 'object',
  required: ['user', 'password', 'server'],
  properties: {
    user: text,
    password: { ...text, 'x-secret': true },
    apiKey: { ...text, 'x-secret': true },
    server: { ...text, 'x-destination': true },
    proxy: { ...text, 'x-destination': true },
    ports: numbers
  },
  additionalProperties: false
}

const keyring = createKeyring(randomBytes(32))
const vault: Vault = { keyring, company: 2, provider: 'acme', scope: 'company' }
const first = new Date('2026-03-14T09:00:00.000Z')
const later = new Date('2026-03-15T09:00:00.000Z')
const nothing: StoredSettings = { plain: {}, secrets: {} }
const complete = { user: 'ada', password: 'old password', apiKey: 'old key', server: 'mail.example', ports: [25] }

function store (incoming: JsonObject, before = nothing, now = first): StoredSettings {
  const changed = changeSettings(form, before, incoming, { vault, now })
  if (!changed.ok) throw new Error(JSON.stringify(changed.problems))
  return changed.value
}

await t.test('what is wrong with settings is told at its place, with the nearest name', (t) => {
  t.strictSame(checkSettings(form, complete), [])
  const problems = checkSettings(form, { user: '', password: 'x', sever: 'x', server: 'x' }, { base: '/settings' })
  t.strictSame(problems.map(({ path, code }) => ({ path, code })), [
    { path: '/settings/sever', code: 'unknown_field' },
    { path: '/settings/user', code: 'too_short' }
  ])
  contains(t, problems[0]?.message, 'did you mean "server"?')
  t.end()
})

await t.test('a setting with a name that every object has is unknown too', (t) => {
  has(t, checkSettings(form, { ...complete, toString: 'x' }), [{ path: '/toString', code: 'unknown_field' }])
  t.end()
})

await t.test('nothing of a secret stands in what is stored or shown', (t) => {
  const stored = store(complete)
  const shown = maskSettings(form, stored)
  t.strictSame(shown, {
    user: 'ada',
    server: 'mail.example',
    ports: [25],
    password: { set: true, updatedAt: first.toISOString() },
    apiKey: { set: true, updatedAt: first.toISOString() }
  })
  for (const secret of [complete.password, complete.apiKey]) lacks(t, JSON.stringify([stored, shown]), secret)
  t.end()
})

await t.test('what is stored opens to what was given', (t) => {
  t.strictSame(openSettings(store(complete), vault), {
    user: 'ada',
    server: 'mail.example',
    ports: [25],
    password: 'old password',
    apiKey: 'old key'
  })
  t.end()
})

await t.test('a secret opens only for its company, provider, scope and field', (t) => {
  const { secrets } = store(complete)
  for (const other of [{ company: 3 }, { provider: 'other' }, { scope: 'user:7' }, { keyring: createKeyring(randomBytes(32)) }]) {
    t.throws(() => openSecrets(secrets, { ...vault, ...other }), { name: 'SealError' })
  }
  t.throws(() => openSecrets({ apiKey: secrets['password']! }, vault), { name: 'SealError' })
  t.end()
})

await t.test('a secret left out is kept, with the time when it was given; a new one has its own', (t) => {
  const before = store(complete)
  const after = store({ user: 'grace', server: 'mail.example', apiKey: 'new key' }, before, later)
  t.equal(after.secrets['password'], before.secrets['password'])
  t.strictSame(openSettings(after, vault), { user: 'grace', server: 'mail.example', password: 'old password', apiKey: 'new key' })
  has(t, maskSettings(form, after), { password: { updatedAt: first.toISOString() }, apiKey: { updatedAt: later.toISOString() } })
  t.end()
})

await t.test('what was pasted loses the spaces, ends of lines and unseen marks around it, and keeps those inside', (t) => {
  const incoming = { ...complete, user: ' ada\r\n', password: '\uFEFF\u200Btwo words\u00A0\n' }
  const changed = changeSettings(form, nothing, incoming, { vault, now: first })
  if (!changed.ok) throw new Error('It is refused.')
  has(t, openSettings(changed.value, vault), { user: 'ada', password: 'two words' })
  has(t, changeSettings(form, nothing, { ...complete, password: ' \u200B ' }, { vault, now: first }), {
    ok: false,
    problems: [{ path: '/password' }]
  })
  t.end()
})

await t.test('null deletes a secret', (t) => {
  const after = store({ user: 'ada', server: 'mail.example', apiKey: null }, store(complete))
  t.notOk('apiKey' in openSettings(after, vault))
  has(t, changeSettings(form, after, { user: 'ada', server: 'mail.example', password: null }, { vault, now: later }), {
    ok: false,
    problems: [{ path: '/password', code: 'required' }]
  })
  t.end()
})

await t.test('null is absence of anything else, and no value of a field that there is not', (t) => {
  const refused = (settings: JsonObject): unknown => changeSettings(form, nothing, settings, { vault, now: first, base: '/settings' })
  t.notOk('ports' in store({ ...complete, ports: null }).plain)
  has(t, refused({ ...complete, server: null }), { ok: false, problems: [{ path: '/settings/server', code: 'required' }] })
  has(t, refused({ ...complete, apiKye: null }), { ok: false, problems: [{ path: '/settings/apiKye', code: 'unknown_field' }] })
  has(t, refused({ ...complete, ports: [null] }), { ok: false, problems: [{ path: '/settings/ports/0', code: 'type' }] })
  t.end()
})

await t.test('a destination that changes, appears or goes drops the kept secrets', (t) => {
  const before = store({ ...complete, proxy: 'proxy.example' })
  const rest = { user: 'ada' }
  for (const destinations of [
    { server: 'evil.example', proxy: 'proxy.example' },
    { server: 'mail.example', proxy: 'evil.example' },
    { server: 'mail.example' }
  ]) {
    has(t, changeSettings(form, before, { ...rest, ...destinations }, { vault, now: later }), {
      ok: false,
      problems: [{ path: '/password', code: 'required' }]
    })
    const after = store({ ...rest, ...destinations, password: 'new password' }, before, later)
    t.strictSame(openSecrets(after.secrets, vault), { password: 'new password' }, 'the optional secret is gone')
  }
  has(t, changeSettings(form, store(complete), { ...rest, server: 'mail.example', proxy: 'evil.example' }, { vault, now: later }), {
    ok: false
  })
  t.end()
})

await t.test('a secret that is no text is refused, and not stored in the clear', (t) => {
  has(t, changeSettings(form, nothing, { ...complete, password: { set: true } }, { vault, now: first }), {
    ok: false,
    problems: [{ path: '/password', code: 'type' }]
  })
  t.end()
})

await t.test('settings that a newer version of the provider calls a secret are not shown', (t) => {
  const older = { plain: { user: 'ada', password: 'canary', server: 'mail.example' }, secrets: {} }
  t.strictSame(maskSettings(form, older), { user: 'ada', password: { set: true }, server: 'mail.example' })
  t.end()
})

await t.test('a secret that a newer version of the provider does not know is not kept', (t) => {
  const newer = { ...form, properties: { user: text, server: form.properties['server']!, apiKey: form.properties['apiKey']! } }
  const { kept } = mergeSettings(newer, store(complete), { user: 'ada', server: 'mail.example' })
  t.strictSame(Object.keys(kept), ['apiKey'])
  t.end()
})

const settings = fc.record({
  user: fc.string(),
  password: fc.string({ minLength: 1 }),
  apiKey: fc.string({ minLength: 1 }),
  server: fc.string(),
  ports: fc.array(fc.nat())
}, { requiredKeys: [] })

await t.test('splitting loses nothing, and leaves no secret with the rest', (t) => {
  fc.assert(fc.property(settings, (given) => {
    const { plain, secrets } = splitSecrets(form, given)
    t.strictSame({ ...plain, ...secrets }, { ...given })
    return !('password' in plain) && !('apiKey' in plain) && !('user' in secrets)
  }))
  t.end()
})

await t.test('sealed secrets open to themselves, whatever they are', (t) => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.string()), (secrets) => {
    t.strictSame(openSecrets(sealSecrets(secrets, vault, first), vault), { ...secrets })
  }))
  t.end()
})

await t.test('of two changes, each field is the last given; secrets survive exactly while the destination stays', (t) => {
  const shape = fc.record({ user: fc.constantFrom('ada', 'grace'), server: fc.constantFrom('a.example', 'b.example') })
  const secrets = fc.record({ password: fc.constantFrom('x1', 'x2', null), apiKey: fc.constantFrom('y1', 'y2', null) }, {
    requiredKeys: []
  })
  fc.assert(fc.property(shape, secrets, shape, secrets, (one, oneSecrets, two, twoSecrets) => {
    const before = mergeSettings(form, nothing, { ...one, ...oneSecrets })
    const stored = { plain: before.plain, secrets: sealSecrets(before.fresh, vault, first) }
    const { plain, fresh, kept } = mergeSettings(form, stored, { ...two, ...twoSecrets })
    const expected = Object.entries({ ...(one.server === two.server ? oneSecrets : {}), ...twoSecrets }).filter(([, value]) =>
      value !== null
    )
    t.strictSame({ ...plain }, { ...two })
    t.strictSame({ ...openSecrets(kept, vault), ...fresh }, Object.fromEntries(expected))
  }))
  t.end()
})
