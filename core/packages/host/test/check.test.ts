import t from 'tap'
import { callContext, installedProvider, memoryLog, outside } from '../../../../test/fixtures/providers/call.ts'
import { directory, provide } from '../../../../test/fixtures/providers/folders.ts'
import { has } from '../../../../test/support/matching.ts'
import { mailServer } from '../../../../test/support/smtp.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import { createSandbox } from '../../sandbox/provider.ts'
import { createNetwork } from '../../vendor-io/network.ts'
import { callCheck } from '../call/check.ts'
import { callSuggest } from '../call/suggest.ts'
import type { InstalledProvider } from '../load/load.ts'
import { deriveManifest } from '../manifest/derive.ts'
import { Secret, Type } from '../provider.ts'

const { vendor, network } = await vendorOf(t)
const url = 'https://api.acme.test/me'
const context = callContext({ settings: { token: 'tok_secret_1' }, resources: outside({ network }) })

type Check = NonNullable<InstalledProvider['check']>

/** A provider whose check gets everything that a verb gets. */
function checking (check: Check): InstalledProvider {
  const facts = { hosts: ['api.acme.test'], settings: Type.Object({ token: Type.Optional(Secret()) }) }
  const service = { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, dispatch: check }
  return { ...installedProvider({ ...facts, services: { invoicing: service } }, { dispatch: check }), check }
}

await t.test('a check only reads, whatever the provider tries', async (t) => {
  vendor.answer({ json: {} })
  const before = vendor.requests.length
  const document = { id: '1', filename: 'x', contentType: 'x', size: 1, sha256: '0' }
  const transport = { host: 'mail.acme.test' }
  for (const [what, check] of [
    ['to POST', (_request, { http }) => http.post(url, {}, Type.Any())],
    ['to PUT', (_request, { http }) => http.put(url, {}, Type.Any())],
    ['to PATCH', (_request, { http }) => http.patch(url, {}, Type.Any())],
    ['to DELETE', (_request, { http }) => http.delete(url, {}, Type.Any())],
    ['to keep a document', (_request, { http }) => http.download(url, { filename: 'x' })],
    ['to send an e-mail', (_request, { smtp }) => smtp.send({ from: 'a@acme.test', to: ['b@acme.test'], subject: 'x' }, transport)],
    ['to write a file', (_request, { files }) => files.put('x', document)]
  ] as [string, Check][]) {
    t.same(await callCheck(checking(check), context), {
      result: 'cannot_be_checked',
      message: `The check of the provider "acme" wanted ${what}, but it only reads.`
    })
  }
  t.equal(vendor.requests.length, before)
})

await t.test('a check that does not end is given up', async (t) => {
  const check: Check = () => new Promise(() => undefined)
  t.same(await callCheck(checking(check), context, { limit: 50 }), {
    result: 'cannot_be_checked',
    message: 'The provider "acme" did not answer in time, before anything was sent.'
  })
})

await t.test('an adapter in a process of its own is checked in the same way', async (t) => {
  const root = await directory(t)
  const sandbox = await createSandbox({ cache: `${root}/cache`, log: memoryLog() })
  t.teardown(() => sandbox.close())
  const source = `import { defineProvider, Secret, Type } from '@dispatch/core/provider'
export default defineProvider({
  code: 'acme', name: 'Acme', hosts: ['api.acme.test'], errors: { at: '/code', message: '/message' },
  settings: Type.Object({ token: Type.Optional(Secret()), account: Type.Optional(Type.Integer()) }),
  check: ({ settings, http }) => http.get('${url}', { bearer: settings.token }, Type.Object({ id: Type.String() })),
  suggestions: {
    account: async ({ settings, http, smtp }) => [(await http.get('${url}', { bearer: settings.token }, Type.Any())), ...Object.keys(smtp)
      .map((title) => ({ value: 2, title }))]
  },
  services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, dispatch: () => ({ id: '1', status: 'sent' }) } }
})
`
  const provider = await sandbox.load(await provide(root, 'acme', { 'index.js': source }), 'digest', 10)
  vendor.on('GET /me', { json: { id: '1' } })
  t.same(await callCheck(provider, context), { result: 'ok' })
  t.equal(vendor.requests.at(-1)?.headers['authorization'], 'Bearer tok_secret_1')
  vendor.on('GET /me', { status: 401, json: { code: 'E1', message: 'No: tok_secret_1.' } })
  t.same(await callCheck(provider, context), { result: 'failed', code: 'E1', message: 'No: [redacted].' })
  vendor.on('GET /me', { json: {} })
  t.equal((await callCheck(provider, context)).result, 'cannot_be_checked')
  t.same(provider.manifest.suggestions, ['account'])
  vendor.on('GET /me', { json: { value: 1, title: 'tok_secret_1' } })
  t.same(await callSuggest(provider, 'account', context), {
    result: 'ok',
    values: [{ value: 1, title: '[redacted]' }, { value: 2, title: 'verify' }]
  }, 'it only reads')
  vendor.on('GET /me', { json: { value: 'one' } })
  t.same(await callSuggest(provider, 'account', context), { result: 'ok', values: [{ value: 2, title: 'verify' }] }, 'others do not fit')
  vendor.on('GET /me', { status: 403, json: { code: 'E2', message: 'No scope for tok_secret_1.' } })
  t.same(await callSuggest(provider, 'account', context), { result: 'failed', code: 'E2', message: 'No scope for [redacted].' })
})

await t.test('suggestions are for settings that there are, and for no secret', (t) => {
  const reported = (suggestions: unknown): unknown => {
    const service = { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, dispatch: () => undefined }
    const definition = {
      code: 'acme',
      name: 'Acme',
      settings: Type.Object({ token: Secret() }),
      suggestions,
      services: { invoicing: service }
    }
    const fit = deriveManifest(definition, '1.0.0')
    return fit.ok ? [] : fit.problems.map(({ path, code }) => [path, code])
  }
  t.same(reported({ account: () => [] }), [['/suggestions/account', 'unknown_setting']])
  t.same(reported({ token: () => [] }), [['/suggestions/token', 'secret']])
  t.same(reported({ token: 'x' }), [['/suggestions', 'type']])
  t.end()
})

await t.test('an adapter in a process of its own signs in at a mail server in the same way', async (t) => {
  const root = await directory(t)
  const sandbox = await createSandbox({ cache: `${root}/cache`, log: memoryLog() })
  t.teardown(() => sandbox.close())
  const server = await mailServer(t)
  const mails = createNetwork({ loopback: 'allowed', ca: [server.ca], route: server.route })
  t.teardown(() => mails.close())
  const source = `import { AllowedSenders, defineProvider, Host, Secret, Type } from '@dispatch/core/provider'
export default defineProvider({
  code: 'acme', name: 'Acme',
  settings: Type.Object({ host: Host(), token: Secret(), allowedSenders: AllowedSenders() }),
  check: ({ settings: { host, token }, smtp }) => smtp.verify({ host, user: 'user', password: token }),
  services: { email: { idempotency: { kind: 'none' }, dispatch: () => ({ id: '1', status: 'sent' }) } }
})
`
  const provider = await sandbox.load(await provide(root, 'acme', { 'index.js': source }), 'digest', 10)
  const checked = (token: string): ReturnType<typeof callCheck> =>
    callCheck(provider, callContext({
      settings: { host: 'mail.acme.test', token, allowedSenders: ['@acme.test'] },
      resources: outside({ network: mails })
    }))
  t.same(await checked('password'), { result: 'ok' })
  has(t, await checked('wrong-password'), { result: 'failed', code: '535' })
  t.equal(server.mails.length, 0)
})
