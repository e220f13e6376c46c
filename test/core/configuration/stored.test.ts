import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Type } from 'typebox'
import { configurationUsed, reachesSandbox } from '../../../core/configuration/sandbox.ts'
import { configurationFaults, createConfigurationCheck, openConfiguration, scopeOf, vaultOf } from '../../../core/configuration/vault.ts'
import { createKeyring } from '../../../core/packages/common/keyring.ts'
import { createHost } from '../../../core/packages/host/host.ts'
import type { Manifest } from '../../../core/packages/host/manifest/manifest.ts'
import { AllowedSenders } from '../../../core/packages/host/settings/fields.ts'
import { sealSecrets } from '../../../core/packages/host/settings/settings.ts'
import type { StoredConfiguration } from '../../../core/store/configuration/configurations.ts'
import { memoryLog } from '../../fixtures/providers/call.ts'
import { directory, provide } from '../../fixtures/providers/folders.ts'
import { has } from '../../support/matching.ts'

const keyring = createKeyring(randomBytes(32))
const stored = (userId: number | null, more: Partial<StoredConfiguration> = {}): StoredConfiguration => ({
  account: '00000000-0000-4000-8000-000000000000',
  providerCode: 'acme',
  userId,
  settings: { plain: {}, secrets: {} },
  sandbox: false,
  updatedAt: new Date(0),
  ...more
})

await t.test('a configuration reaches a test environment by its mark, or by the settings that the vendor needs there', (t) => {
  const reaches = (sandbox: Manifest['sandbox'] | 'none', configuration: Partial<StoredConfiguration>): boolean => {
    const manifest = (sandbox === 'none' ? {} : { sandbox }) as Manifest
    return reachesSandbox({ manifest }, stored(null, configuration))
  }
  t.equal(reaches('none', { sandbox: true }), false, 'the vendor has none')
  t.equal(reaches({ kind: 'configuration' }, { sandbox: true }), true)
  t.equal(reaches({ kind: 'configuration' }, { sandbox: false }), false)
  t.equal(reaches({ kind: 'flag' }, { sandbox: false }), true)
  const needs = { kind: 'flag', needs: ['user', 'key'] } as const
  const key = sealSecrets({ key: 'k' }, vaultOf(keyring, { companyId: 2, userId: null }, 'acme'), new Date(0))
  t.equal(reaches(needs, { settings: { plain: { user: 'u' }, secrets: key } }), true)
  t.equal(reaches(needs, { settings: { plain: { user: 'u' }, secrets: {} } }), false)
  t.equal(reaches(needs, { settings: { plain: {}, secrets: key } }), false)
  t.end()
})

await t.test('a step is called with the configuration that it was planned with, and with no other', (t) => {
  const [ofCompany, ofUser, ofAnother] = [stored(null), stored(7), stored(8)]
  const used = (configuredBy: 'user' | 'company' | 'nobody', configurations: StoredConfiguration[]): StoredConfiguration | undefined =>
    configurationUsed({ configurations, choices: [] }, { providerCode: 'acme', configuredBy, userId: 7 })
  t.equal(used('user', [ofCompany, ofAnother, ofUser]), ofUser)
  t.equal(used('company', [ofUser, ofAnother, ofCompany]), ofCompany)
  t.equal(used('user', [ofCompany, ofAnother]), undefined)
  t.equal(used('company', [ofUser, ofAnother]), undefined)
  t.equal(used('user', [stored(7, { providerCode: 'other' })]), undefined)
  has(t, used('nobody', []), { providerCode: 'acme', userId: null, sandbox: true, settings: { plain: {}, secrets: {} } })
  t.end()
})

await t.test('secrets open for their owner alone: a company, or one user of it', (t) => {
  t.equal(scopeOf({ userId: null }), 'company')
  t.equal(scopeOf({ userId: 7 }), 'user 7')
  const secrets = sealSecrets({ token: 'secret' }, vaultOf(keyring, { companyId: 2, userId: 7 }, 'acme'), new Date(0))
  const settings = { plain: { user: 'u' }, secrets }
  t.same(openConfiguration(keyring, 2, stored(7, { settings })), { user: 'u', token: 'secret' })
  for (const [companyId, userId, providerCode] of [[2, null, 'acme'], [2, 8, 'acme'], [3, 7, 'acme'], [2, 7, 'other']] as const) {
    t.throws(() => openConfiguration(keyring, companyId, stored(userId, { settings, providerCode })),
      `${companyId} ${userId} ${providerCode}`)
  }
  t.end()
})

await t.test('what is wrong with a stored configuration is found once', async (t) => {
  const folder = await directory(t)
  await provide(folder, 'acme')
  const host = await createHost({ directories: [folder], log: memoryLog() })
  const provider = host.find('acme')
  if (provider === undefined) throw new Error('The provider was not loaded.')
  const wrong = stored(null, { settings: { plain: { unheard: 1 }, secrets: {} }, sandbox: true })
  const faults = configurationFaults(keyring, 2, provider, wrong)
  t.ok(faults.some(({ path }) => path === '/settings/unheard'), 'of its settings')
  t.ok(faults.some(({ path }) => path === '/sandbox'), 'of its sandbox')
  const check = createConfigurationCheck(keyring, memoryLog())
  const first = check(2, provider, wrong)
  t.same(first, faults)
  t.equal(check(2, provider, wrong), first, 'the same list again')
  t.not(check(2, provider, { ...wrong }), first, 'another configuration is looked at anew')
  t.not(check(2, { ...provider }, wrong), first, 'and so is another version of the provider')
})

await t.test('a stored sender that can match nobody does not stop the others; without another one the configuration is not valid', (t) => {
  const manifest = { settings: Type.Object({ allowedSenders: AllowedSenders() }, { additionalProperties: false }) } as unknown as Manifest
  const faults = (...allowedSenders: string[]): string[] =>
    configurationFaults(keyring, 2, { manifest }, stored(null, { settings: { plain: { allowedSenders }, secrets: {} } }))
      .map(({ path }) => path)
  t.same(faults('@acme.test', 'mailto:ada@acme.test'), [])
  t.same(faults('mailto:ada@acme.test'), ['/settings/allowedSenders'])
  t.end()
})
