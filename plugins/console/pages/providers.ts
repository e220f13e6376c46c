import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill, serviceNames, wordFor, type Words } from '../language/language.ts'
import type { MyConfig, ProviderView } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { notice, page, table } from './layout.ts'
import { nameOf, readWholeProviders } from './provider-names.ts'

/** Which provider does what for the company, and which are installed. */
export const providersPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: { removed?: unknown } }>('/providers', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api, actor: { role } } = visit
    const [data, config] = await Promise.all([
      readWholeProviders(visit),
      api.read<MyConfig>('/api/v1/my/config')
    ])
    const main = html`<p>${words.providersIntro}</p>
${request.query.removed === undefined ? html`` : notice('good', html`<p>${words.settingsRemoved}</p>`)}
<section aria-labelledby="services"><h2 id="services">${words.services}</h2>${
      serviceTable(words, config, { all: data, mayChange: role === 'admin' })
    }</section>
<h2>${words.installed}</h2>
<ul class="cards">${data.filter(({ state }) => state === 'installed').map((provider) => card(words, provider, config))}</ul>
${refusedSection(words, data)}`
    return reply.page(page(visit, { title: words.providers, section: 'providers', main }))
  })
  done()
}

function serviceTable (
  words: Words,
  { services, company }: MyConfig,
  { all, mayChange }: { all: readonly ProviderView[], mayChange: boolean }
): Html {
  const rows = Object.entries(services).filter(([, { available, providerName }]) => available.length > 0 || providerName !== null).map(
    ([name, { providerName, chosenBy }]) => {
      const title = wordFor(words, 'service', name)
      const own = providerName === null ? null : nameOf(all, providerName)
      const list = company.lists?.[name]?.map((listed) => nameOf(all, listed.providerName)).join(' → ')
      const chosen = chosenBy === 'user' ? own : list ?? own
      const mark = chosenBy === 'user' ? html` <span class="badge calm">${words.chosenByYou}</span>` : html``
      return html`<tr><th scope="row">${title}</th><td>${chosen ?? html`<span class="quiet">${words.none}</span>`}${mark}</td><td>${
        mayChange
          ? html`<a class="button second" href="/console/services/${name}" aria-label="${
            fill(words.switchFull, { service: title })
          }">${words.switch}</a>`
          : html``
      }</td></tr>\n`
    }
  )
  return table(words.services, [words.service, words.defaultProvider, words.action], rows)
}

function card (words: Words, { code = '', name = code, services = {}, settings, health }: ProviderView, { company }: MyConfig): Html {
  const stored = company.providers.find((configuration) => configuration.code === code)
  const needsNone = Object.keys((settings as { properties?: object } | undefined)?.properties ?? {}).length === 0
  const [tone, state] = stored === undefined
    ? needsNone ? ['calm', ''] : ['calm', words.notConfigured]
    : stored.valid
    ? ['good', words.ready]
    : ['warn', words.needsAttention]
  return html`<li><a href="/console/providers/${code}"><strong>${name}</strong></a> ${
    state === '' ? html`` : html`<span class="badge ${tone}">${state}</span>`
  }${stored?.sandbox === true ? html` <span class="badge calm">${words.sandbox}</span>` : html``}
<p class="quiet">${serviceNames(words, Object.keys(services))}</p>${
    health.state === 'failing' ? html`<p class="wrong">${words.failingVendor}</p>` : html``
  }</li>\n`
}

function refusedSection (words: Words, all: readonly ProviderView[]): Html {
  const refused = all.filter(({ state }) => state === 'refused')
  if (refused.length === 0) return html``
  return html`<section aria-labelledby="refused"><h2 id="refused">${words.refused}</h2><ul class="list">${
    refused.map(({ code, folder, health }) => html`<li><code>${code ?? folder}</code> <span lang="en">${health.reason ?? ''}</span></li>\n`)
  }</ul></section>`
}
