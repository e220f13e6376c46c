import { countOf, formatReport, runConformance } from '@dispatch/conformance'
import fc from 'fast-check'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { directory, provide } from '../../../../test/fixtures/providers/folders.ts'
import { contains, has } from '../../../../test/support/matching.ts'
import { Type } from '../../host/provider.ts'
import { Host, Secret } from '../../host/settings/fields.ts'
import type { SettingsSchema } from '../../host/settings/settings-schema.ts'
import { canariesOf, reveals, withCanaries } from '../run/canary.ts'

const formOf = (properties: Record<string, object>): SettingsSchema =>
  ({ ...Type.Object(properties as never), additionalProperties: false }) as unknown as SettingsSchema

await t.test('a secret is replaced by another of the same shape, wherever it stands', (t) => {
  const form = formOf({ key: Secret({ pattern: '^sk_(test|live)_[0-9a-f]{16}$' }), server: Host() })
  const settings = { key: 'sk_test_0123456789abcdef', server: 'vendor.test' }
  const canaries = canariesOf(form, settings, 1)
  const changed = withCanaries({ settings, list: ['a sk_test_0123456789abcdef b'] }, canaries)
  contains(t, changed.settings.key, /^sk_test_0123[0-9a-f]{12}$/)
  t.not(changed.settings.key, settings.key)
  t.equal(changed.settings.server, 'vendor.test')
  t.equal(changed.list[0], `a ${changed.settings.key} b`)
  t.not(canariesOf(form, settings, 2)[0]?.is, canaries[0]?.is)
  t.end()
})

await t.test('a secret that must stay what it is stays', (t) => {
  const pem = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n'
  t.strictSame(canariesOf(formOf({ key: Secret() }), { key: pem }, 1), [])
  t.strictSame(canariesOf(formOf({ key: Secret({ enum: ['one-of-these'] }) }), { key: 'one-of-these' }, 1), [])
  t.end()
})

await t.test('a secret is found in every text that gives it away', (t) => {
  const secret = fc.stringMatching(/^[A-Za-z0-9]{16,40}$/)
  const ways: ((secret: string) => string)[] = [
    (text) => text,
    (text) => Buffer.from(text).toString('hex'),
    (text) => `Basic ${Buffer.from(`${text}:x`).toString('base64')}`,
    (text) => text.slice(-8),
    (text) => Array.from(text).reverse().join(''),
    (text) => JSON.stringify({ key: text })
  ]
  fc.assert(fc.property(secret, fc.constantFrom(...ways), (text, way) => reveals(`before ${way(text)} after`, text)))
  fc.assert(fc.property(secret, (text) => !reveals('Nothing of it shows in this sentence, nor in 1234567.', text)))
  t.end()
})

await t.test('a connection to another machine is told and not made; afterwards the process is as it was', async (t) => {
  const connect = () => Object.getOwnPropertyDescriptor(Socket.prototype, 'connect')
  const before = connect()
  const folder = await provide(await directory(t), 'caller', {
    'index.js': 'await fetch(\'https://elsewhere.test\').catch(() => undefined)\nexport default {}'
  })
  const report = await runConformance(folder)
  contains(t, formatReport(report), /✗ quiet: .*\n {4}✗ while it is loaded\n {8}It connects to "elsewhere.test"\./)
  has(t, report.cases.find(({ rule }) => rule === 'manifest'), { status: 'failed', why: /Invalid manifest/ })
  t.strictSame(countOf(report), { passed: 3, failed: 2, skipped: 0 })
  t.strictSame(connect(), before)
  t.notOk(Object.hasOwn(process.stdout, 'write'))
})

await t.test('the password of a mail server is a secret', async (t) => {
  const folder = join(await directory(t), 'smtp')
  await cp(fileURLToPath(new URL('../../../../providers/smtp', import.meta.url)), folder, { recursive: true })
  const source = await readFile(join(folder, 'sign-in.ts'), 'utf8')
  await writeFile(join(folder, 'sign-in.ts'), source.replace(/(?<=password: .*)Secret\(\{/, 'Type.String({'))
  const { cases } = await runConformance(folder, { only: ['credentials'] })
  t.strictSame(cases.map(({ why }) => why), ['"password" is sent as "password" of a mail server: declare it as Secret().'])
})

await t.test('what a vendor suggests for a setting is shown by a fixture, and fits its form', async (t) => {
  const reported = async (change: (folder: string) => Promise<void>): Promise<unknown> => {
    const folder = join(await directory(t), 'qonto')
    await cp(fileURLToPath(new URL('../../../../providers/qonto', import.meta.url)), folder, { recursive: true })
    await change(folder)
    const { cases } = await runConformance(folder, { only: ['suggested'] })
    return cases.filter(({ status }) => status === 'failed').map(({ why }) => why)
  }
  const edit = (file: string, from: string, to: string) => async (folder: string): Promise<void> => {
    const path = join(folder, file)
    await writeFile(path, (await readFile(path, 'utf8')).replace(from, to))
  }
  t.same(await reported(() => Promise.resolve()), [])
  has(t, await reported((folder) => rm(join(folder, 'fixtures/suggest.iban.json'))), [/write fixtures\/suggest\.iban\.json/])
  has(t, await reported(edit('api.ts', 'iban: value, name', 'name: value, name')), [/"values"|values/])
  has(t, await reported(edit('index.ts', 'suggestions: { iban: accounts },', '')), [/no suggestions for "iban"/])
})

await t.test('what a provider does with signers is declared, and shown by a fixture', async (t) => {
  const shown = async (change: (folder: string) => Promise<void>): Promise<string[]> => {
    const folder = join(await directory(t), 'docusign')
    await cp(fileURLToPath(new URL('../../../../providers/docusign', import.meta.url)), folder, { recursive: true })
    await change(folder)
    const { cases } = await runConformance(folder, { only: ['shown'] })
    return cases.filter(({ status }) => status === 'failed').map(({ name }) => name)
  }
  const without = (line: string) => async (folder: string) => {
    const source = await readFile(join(folder, 'index.ts'), 'utf8')
    contains(t, source, line)
    await writeFile(join(folder, 'index.ts'), source.replace(line, ''))
  }
  const removed = (name: string) => (folder: string) => rm(join(folder, 'fixtures', name))
  t.strictSame(await shown(() => Promise.resolve()), [])
  t.strictSame(await shown(without('sameAddress: true,')), ['no sameAddress of "esign"'])
  t.strictSame(await shown(without('usesPhoneNumber: \'phoneAuthentication\',')), ['no usesPhoneNumber of "esign"'])
  t.strictSame(await shown(removed('send.same-address.json')), ['sameAddress of "esign"'])
  t.strictSame(await shown(removed('send.phone-code.json')), ['usesPhoneNumber of "esign"'])
})

await t.test('the sign-in of a session needs no idempotency key, and changes nothing', async (t) => {
  const exchange = [
    {
      signIn: true,
      expect: { method: 'POST', url: 'https://api.seated.example.com/login', json: { user: 'me', password: 'fake_password_5f2b8c91' } },
      answer: { json: { token: 'fake_token_c81d4e2f' } }
    },
    {
      expect: {
        method: 'POST',
        url: 'https://api.seated.example.com/send',
        headers: { 'X-Key': '{{idempotencyKey}}' },
        json: { text: 'Hi' }
      },
      answer: { json: { id: 'm1' } }
    }
  ]
  const reported = async (entries: object[]): Promise<string[]> => {
    const folder = await provide(await directory(t), 'seated', {
      'index.js': `import { defineProvider, Secret, Type } from '@dispatch/core/provider'
export default defineProvider({
  code: 'seated',
  name: 'Seated',
  hosts: ['api.seated.example.com'],
  settings: Type.Object({ password: Secret({ title: 'Password' }) }),
  services: {
    sms: {
      idempotency: { kind: 'key', ttl: 3600 },
      async dispatch ({ sms }, { settings: { password }, http, idempotencyKey }) {
        const session = { url: 'https://api.seated.example.com/login', json: { user: 'me', password }, token: '/token', lifetime: 600 }
        const call = { session, headers: { 'X-Key': idempotencyKey }, json: { text: sms.message } }
        const { id } = await http.post('https://api.seated.example.com/send', call, Type.Object({ id: Type.String() }))
        return { id, status: 'sent' }
      }
    }
  }
})
`,
      'fixtures/send.accepted.json': JSON.stringify({
        service: 'sms',
        settings: { password: 'fake_password_5f2b8c91' },
        request: { sms: { phoneNumber: '+33612345678', message: 'Hi' } },
        exchange: entries,
        result: { outcome: 'accepted', response: { id: 'm1', status: 'sent' } }
      })
    })
    const { cases } = await runConformance(folder, { only: ['key', 'outcome'] })
    return [...new Set(cases.filter(({ status }) => status === 'failed').map(({ rule }) => rule))]
  }
  t.strictSame(await reported(exchange), [])
  t.strictSame(await reported(exchange.map(({ expect, answer }) => ({ expect, answer }))), ['outcome', 'key'], 'without a word of it')
})

await t.test('the kit reads a folder afresh each time', async (t) => {
  const folder = await provide(await directory(t), 'changing')
  const title = async () => (await runConformance(folder, { only: ['titles'] })).cases.map(({ status }) => status)
  t.strictSame(await title(), ['failed'])
  const source = await readFile(join(folder, 'index.js'), 'utf8')
  await writeFile(join(folder, 'index.js'),
    source.replace('Secret()', 'Secret({ title: \'Token\' })').replace('Type.String()', 'Type.String({ title: \'Region\' })'))
  t.strictSame(await title(), ['passed'])
})
