import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { has } from '../../support/matching.ts'
import { startService } from '../../support/service.ts'

const service = await startService(t)
const data = JSON.parse(await readFile(new URL('../../../templates/service-contract/sample.json', import.meta.url), 'utf8')) as object
const [ada, grace] = [
  { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' },
  { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }
]

const settings = {
  baseHost: 'eu.docusign.net',
  accountId: 'account-1',
  integrationKey: 'integration-1',
  userId: 'user-1',
  privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
}
const configure = (code: string, settings: object): Promise<unknown> =>
  service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings } })
await configure('docusign', settings)
await configure('universign', { apiKey: 'a-key-of-universign' })

const validate = (signers: readonly object[], more: object = {}, providerName = 'docusign'): Promise<any> =>
  service.send('POST', '/api/esign/validate', { body: { template: { id: 40, data }, signers, providerName, ...more } })

await t.test('a couple with one address signs where the vendor can, and one person at two steps', async (t) => {
  const couple = [ada, { ...ada, firstName: 'William' }]
  has(t, await validate(couple), { status: 200, body: { result: 'success' } })
  has(t, await validate([{ ...ada, order: 1 }, { ...grace, order: 2 }, { ...ada, order: 3 }]), { status: 200 })
  has(t, await validate([ada, ada]), { status: 422, body: { details: [{ path: '/signers/1/email', code: 'duplicate_signer' }] } })
  has(t, await validate(couple, {}, 'universign'), {
    status: 422,
    body: {
      details: [{ path: '/signers/1/email', code: 'duplicate_signer', message: /"universign" tells signers apart by their address/ }]
    }
  })
  has(t, await validate(couple, {}, 'simulator'), { status: 200 })
})

await t.test('a language falls back to the one that the vendor writes', async (t) => {
  for (const locale of ['fr-FR', 'en-US', 'de-AT', 'fr_CA', 'PT', 'zh-Hant-HK', 'nb-NO']) {
    has(t, await validate([ada, grace], { esign: { locale } }), { status: 200 }, locale)
  }
  has(t, await validate([ada, grace], { esign: { locale: 'sw' } }), {
    status: 422,
    body: { details: [{ path: '/esign/locale', code: 'not_supported_by_provider' }] }
  })
})

await t.test('a phone number is used, or its being ignored is said', async (t) => {
  const called = [{ ...ada, phoneNumber: '+33612345678' }, grace]
  has(t, await validate(called), {
    status: 200,
    body: {
      result: 'warning',
      warnings: [{ path: '/signers/0/phoneNumber', code: 'unused_field', message: /"phoneAuthentication" turns/ }]
    }
  })
  has(t, await validate(called, {}, 'universign'), { status: 200, body: { result: 'success' } })
  await configure('docusign', { ...settings, phoneAuthentication: true })
  has(t, await validate(called), { status: 200, body: { result: 'success' } })
})
