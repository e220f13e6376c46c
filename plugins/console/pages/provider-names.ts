import { type Html, html } from '../../html.ts'
import type { ProviderView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'

/** The providers that are installed or were refused, with the names of their manifests, without the schemas of their settings. */
export async function readProviders ({ api }: Pick<Visit, 'api'>): Promise<readonly ProviderView[]> {
  return (await api.read<{ data: ProviderView[] }>('/api/v1/providers?schemas=false')).data
}

/** The same with the schemas of their settings. */
export async function readWholeProviders ({ api }: Pick<Visit, 'api'>): Promise<readonly ProviderView[]> {
  return (await api.read<{ data: ProviderView[] }>('/api/v1/providers')).data
}

/** What a provider is called; its code where it is not installed any more. */
export function nameOf (providers: readonly ProviderView[], code: string): string {
  return providers.find((provider) => provider.code === code)?.name ?? code
}

/** The name, with the code that the API knows it by to hover over. */
export function providerTitle (providers: readonly ProviderView[], code: string): Html {
  return html`<span title="${code}">${nameOf(providers, code)}</span>`
}

/** A provider that runs, which has a code. */
export type Installed = ProviderView & { code: string }

export function installedIn (providers: readonly ProviderView[], code: string): Installed | undefined {
  return providers.find((one): one is Installed => one.state === 'installed' && one.code === code)
}

/** The providers that do a service once they have settings, each with a link to them; undefined where there is none. */
export function settingsLinks (providers: readonly ProviderView[], service: string, but: readonly string[] = []): Html | undefined {
  const able = providers.filter(({ state, code = '', services = {} }) =>
    state === 'installed' && Object.hasOwn(services, service) && !but.includes(code)
  )
  return able.length === 0 ?
    undefined :
    html`${
      able.map(({ code = '', name = code }, index) => html`${index === 0 ? '' : ', '}<a href="/console/providers/${code}">${name}</a>`)
    }`
}

/** Providers as choices of a form, by their names; one that was refused may have no code, and is none. */
export function providerOptions (providers: readonly ProviderView[]): { value: string, label: string }[] {
  return providers.flatMap(({ code, name = code }) => code === undefined ? [] : [{ value: code, label: name ?? code }])
}
