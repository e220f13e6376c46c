import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill, serviceNames, wordFor, type Words } from '../language/language.ts'
import type { MyConfig, ProviderView } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { notice, page, table } from './layout.ts'
import { installedIn, nameOf, readProviders, settingsLinks } from './provider-names.ts'

/** Which provider does what for the company, and which are installed. */
export const providersPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: { removed?: unknown, changed?: unknown } }>('/providers', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api, actor: { role } } = visit
    const [data, config] = await Promise.all([
      readProviders(visit),
      api.read<MyConfig>('/api/v1/my/config')
    ])
    const main = html`<p>${words.providersIntro}</p>
${saidOf(words, config, request.query)}
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

function saidOf (words: Words, { services }: MyConfig, { removed, changed }: { removed?: unknown, changed?: unknown }): Html {
  if (removed !== undefined) return notice('good', html`<p>${words.settingsRemoved}</p>`)
  if (typeof changed !== 'string' || !Object.hasOwn(services, changed)) return html``
  return notice('good', html`<p>${fill(words.switchDone, { service: wordFor(words, 'service', changed) })}</p>`)
}

function serviceTable (
  words: Words,
  { services, company }: MyConfig,
  { all, mayChange }: { all: readonly ProviderView[], mayChange: boolean }
): Html {
  const rows = Object.entries(services).flatMap(([name, { available, providerName, chosenBy }]) => {
    const toFillIn = settingsLinks(all, name)
    if (toFillIn === undefined && providerName === null) return []
    const title = wordFor(words, 'service', name)
    const listed = (chosenBy === 'user' ? undefined : company.lists?.[name])?.map((entry) => entry.providerName) ??
      (providerName === null ? [] : [providerName])
    const mark = chosenBy === 'user' ? html` <span class="badge calm">${words.chosenByYou}</span>` : html``
    const change = html`<a class="button second" href="/console/services/${name}" aria-label="${
      fill(words.switchFull, { service: title })
    }">${words.switch}</a>`
    const action = available.length > 0 || providerName !== null ? change : html`${words.settingsFirst} ${toFillIn ?? ''}`
    return [
      html`<tr><th scope="row">${title}</th><td>${chosenOf(words, all, listed)}${mark}</td>${
        mayChange ? html`<td>${action}</td>` : html``
      }</tr>\n`
    ]
  })
  return table(words.services, [words.service, words.defaultProvider, ...mayChange ? [words.action] : []], rows)
}

/** The providers of a service in their order, and which of them cannot be used. */
function chosenOf (words: Words, all: readonly ProviderView[], codes: readonly string[]): Html {
  if (codes.length === 0) return html`<span class="quiet">${words.none}</span>`
  return html`${
    codes.map((code, index) =>
      html`${index === 0 ? '' : ' → '}${nameOf(all, code)}${
        installedIn(all, code) === undefined ? html` <span class="badge warn">${words.choice_unusable}</span>` : html``
      }`
    )
  }`
}

function card (
  words: Words,
  { code = '', name = code, services = {}, health }: ProviderView,
  { company, services: usable }: MyConfig
): Html {
  const stored = company.providers.find((configuration) => configuration.code === code)
  const needsNone = Object.values(usable).some(({ available }) => available.includes(code))
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
