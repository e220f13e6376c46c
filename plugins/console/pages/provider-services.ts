import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { manyField } from '../form/fields.ts'
import { fill, serviceNames, wordFor, type Words } from '../language/language.ts'
import { ApiRefused, type MyConfig, type ProviderView, withQuery } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { type Installed, installedIn, nameOf, readWholeProviders } from './provider-names.ts'

type Posted = { Params: { code: string }, Body: URLSearchParams }
type Chosen = Pick<MyConfig, 'company'>

/** What a provider does for a company, all services in one form. */
export const providerServicesPages: FastifyPluginCallback = (app, _options, done) => {
  app.post<Posted>('/providers/:code/services', async (request, reply) => {
    const { api } = visitOf(request)
    const { params: { code }, body } = request
    const [providers, config] = await Promise.all([readWholeProviders({ api }), api.read<MyConfig>('/api/v1/my/config')])
    const provider = installedIn(providers, code)
    for (const service of provider === undefined ? [] : offered(config, provider)) {
      const isSelected = body.getAll('service').includes(service)
      if (isSelected === (config.company.choices[service] === code)) continue
      const path = `/api/v1/company/defaults/${encodeURIComponent(service)}`
      const changed = await api.send('PUT', path, { providerName: isSelected ? code : null })
      if (!changed.ok) throw new ApiRefused(changed)
    }
    return reply.redirect(withQuery(`/console/providers/${encodeURIComponent(code)}`, { chosen: '1' }), 303)
  })
  done()
}

/** The services that a provider may do alone. Those with a list of providers are changed where the list is. */
function offered ({ company: { lists = {} } }: Chosen, { services = {} }: Installed): string[] {
  return Object.keys(services).filter((service) => lists[service] === undefined)
}

/** Which services a provider does, each with who does it now. */
export function servicesSection (words: Words, { provider, providers, config }: {
  provider: Installed
  providers: readonly ProviderView[]
  config: Chosen
}): Html {
  const { code, name = code, services = {} } = provider
  const { choices, lists = {} } = config.company
  const own = offered(config, provider)
  const listed = Object.keys(services).filter((service) => lists[service] !== undefined)
  const now = (service: string): string => {
    const chosen = choices[service]
    return chosen === undefined || chosen === code ? '' : ` (${fill(words.doneByNow, { name: nameOf(providers, chosen) })})`
  }
  return html`<section aria-labelledby="does"><h2 id="does">${fill(words.doesTitle, { name })}</h2>${
    own.length === 0 ? html`` : html`<form method="post" action="/console/providers/${code}/services">${
      manyField({
        name: 'service',
        label: words.services,
        values: own.filter((service) => choices[service] === code),
        options: own.map((value) => ({ value, label: `${wordFor(words, 'service', value)}${now(value)}` }))
      })
    }<div class="actions"><button>${words.doesSave}</button></div></form>`
  }${
    listed.length === 0 ? html`` : html`<p class="quiet">${fill(words.doesLists, { services: serviceNames(words, listed) })}</p>`
  }</section>`
}
