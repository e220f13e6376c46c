import type { Words } from '../language/language.ts'
import { ApiRefused, type MyConfig, type ProviderView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'
import { readProviders } from './provider-names.ts'
import { stateOf } from './settings-state.ts'

export type Known = {
  service: string
  config: MyConfig
  providers: readonly ProviderView[]
  now: string | undefined
  available: readonly string[]
}

/** What is known of a service and its providers, for an admin of the company. Throws `ApiRefused`. */
export async function readKnown ({ api, actor: { role } }: Visit, service: string): Promise<Known> {
  const [providers, config] = await Promise.all([
    readProviders({ api }),
    api.read<MyConfig>('/api/v1/my/config')
  ])
  const known = Object.entries(config.services).find(([name]) => name === service)?.[1]
  if (known === undefined || role !== 'admin') {
    const [status, error] = known === undefined ? [404, 'not_found'] as const : [403, 'forbidden'] as const
    throw new ApiRefused({ ok: false, status, error: { error, message: 'Only an admin of the company can change this.', requestId: '' } })
  }
  return { service, config, providers, now: config.company.choices[service], available: known.available }
}

function storedOf ({ company }: MyConfig, code: string | undefined): MyConfig['company']['providers'][number] | undefined {
  return company.providers.find((configuration) => configuration.code === code)
}

export function environmentOf (words: Words, config: MyConfig, code: string | undefined): string {
  const stored = storedOf(config, code)
  return stored === undefined ? '' : stored.sandbox ? words.sandbox : words.environmentReal
}

export function settingsOf (words: Words, config: MyConfig, code: string | undefined): string {
  return code === undefined || code === '' ? '' : stateOf(words, storedOf(config, code)).text
}
