import t from 'tap'
import { type ChoiceContext, chooseProvider, configurationOf } from '../../../core/configuration/choose.ts'
import { createHost } from '../../../core/packages/host/host.ts'
import type { StoredConfiguration } from '../../../core/store/configuration/configurations.ts'
import { memoryLog } from '../../fixtures/providers/call.ts'
import { directory, provide } from '../../fixtures/providers/folders.ts'
import { contains, has } from '../../support/matching.ts'

const actor = { userId: 7 }
const stored = (providerCode: string, userId: number | null): StoredConfiguration => ({
  account: '00000000-0000-4000-8000-000000000000',
  providerCode,
  userId,
  settings: { plain: {}, secrets: {} },
  sandbox: false,
  updatedAt: new Date(0)
})

await t.test('who chooses, and whose configuration holds', async (t) => {
  const folder = await directory(t)
  for (const code of ['one', 'two', 'three']) await provide(folder, code)
  const host = await createHost({ directories: [folder], log: memoryLog() })
  const all = ['one', 'two', 'three'].flatMap((code) => [stored(code, null), stored(code, 7), stored(code, 8)])
  const choice = (service: string, userId: number | null, providerCode: string): ChoiceContext['company']['choices'][number] => ({
    service,
    userId,
    providerCode
  })

  /** `provider by whom with whose configuration`, or why not. */
  const reported = (
    choices: ChoiceContext['company']['choices'],
    requested?: string,
    configurations = all,
    problemsOf: ChoiceContext['problemsOf'] = () => []
  ): string => {
    const chosen = chooseProvider({ host, company: { choices, configurations }, problemsOf }, actor, 'invoicing', requested)
    return chosen.chosen ? `${chosen.provider.code} ${chosen.chosenBy} ${String(chosen.configuration.userId)}` : chosen.problem.message
  }
  const both = [choice('invoicing', null, 'one'), choice('invoicing', 7, 'two')]
  t.equal(reported([choice('invoicing', null, 'one')]), 'one company 7')
  t.equal(reported(both), 'two user 7')
  t.equal(reported(both, 'three'), 'three request 7')
  t.equal(reported([choice('invoicing', null, 'one'), choice('invoicing', 8, 'two')]), 'one company 7',
    'the choice of another user is nothing')
  contains(t, reported([choice('esign', null, 'one'), choice('esign', 7, 'two')]), 'No provider is chosen for "invoicing"',
    'nor is one for another service')

  t.equal(reported(both, undefined, [stored('two', null)]), 'two user null', 'the company\'s configuration serves who has none')
  contains(t, reported(both, undefined, [stored('two', 8)]), 'has no configuration', 'another user\'s serves nobody else')
  contains(t, reported(both, 'none'), 'no provider "none" installed (did you mean "one"?)')

  const invalid: ChoiceContext['problemsOf'] = (_provider, { userId }) =>
    userId === 7 ? [{ path: '/settings/token', code: 'required', message: 'Missing.' }] : []
  contains(t, reported(both, undefined, all, invalid),
    'is not valid (/settings/token Missing.): correct it with PUT /api/v1/my/providers/two',
    'an own one that is invalid is not passed over')
})

await t.test('a provider that needs a disk is chosen where the operator gives one', async (t) => {
  const folder = await directory(t)
  await provide(folder, 'one', {
    'index.js': 'import { defineProvider, Type } from \'@dispatch/core/provider\'\nexport default defineProvider({ code: \'one\', name: ' +
      '\'One\', needs: [\'disk\'], settings: Type.Object({}), services: { upload: { idempotency: { kind: \'none\' }, dispatch () ' +
      '{} } } })'
  })
  const host = await createHost({ directories: [folder], log: memoryLog() })
  const chosen = (disk: boolean): ReturnType<typeof chooseProvider> =>
    chooseProvider({ host, disk, company: { choices: [], configurations: [stored('one', null)] }, problemsOf: () => [] }, actor, 'upload',
      'one')
  has(t, chosen(true), { chosen: true })
  has(t, chosen(false), {
    chosen: false,
    problem: {
      path: '/providerName',
      code: 'configuration_missing',
      message: 'The provider "one" writes to a disk, but the operator has not provided one: DISPATCH_DISK_ROOT is not set.'
    }
  })
})

await t.test('an own configuration stands before the company\'s, wherever it stands in the list', (t) => {
  for (const configurations of [[stored('one', null), stored('one', 7)], [stored('one', 7), stored('one', null)]]) {
    t.equal(configurationOf({ choices: [], configurations }, actor, 'one')?.userId, 7)
  }
  t.equal(configurationOf({ choices: [], configurations: [stored('two', 7)] }, actor, 'one'), undefined)
  t.end()
})
