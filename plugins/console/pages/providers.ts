import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { reasonOf } from '../form/sentence.ts'
import { fill, serviceNames, wordFor, type Words } from '../language/language.ts'
import type { MyConfig, ProviderView } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { monogram, notice, page, table } from './layout.ts'
import { nameOf, readProviders, settingsLinks } from './provider-names.ts'
import { checkedAt, chosenFor, servicesWith, stateBadge, unusable } from './settings-state.ts'

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

function saidOf (words: Words, config: MyConfig, { removed, changed }: { removed?: unknown, changed?: unknown }): Html {
  if (typeof removed === 'string') {
    return html`${notice('good', html`<p>${words.settingsRemoved}</p>`)}${usedStill(words, servicesWith(config, removed))}`
  }
  if (typeof changed !== 'string' || !Object.hasOwn(config.services, changed)) return html``
  return notice('good', html`<p>${fill(words.switchDone, { service: wordFor(words, 'service', changed) })}</p>`)
}

/** Services that cannot be used until their provider has settings again, or another one is chosen. */
function usedStill (words: Words, services: readonly string[]): Html {
  if (services.length === 0) return html``
  return notice('warn', html`<p>${fill(words.settingsStillUsed, { services: serviceNames(words, services) })}</p>`)
}

function serviceTable (
  words: Words,
  config: MyConfig,
  { all, mayChange }: { all: readonly ProviderView[], mayChange: boolean }
): Html {
  const rows = Object.entries(config.services).flatMap(([name, { available, providerName, chosenBy }]) => {
    const toFillIn = settingsLinks(all, name)
    if (toFillIn === undefined && providerName === null) return []
    const title = wordFor(words, 'service', name)
    const mark = chosenBy === 'user' ? html` <span class="badge calm">${words.chosenByYou}</span>` : html``
    const change = html`<a class="button second" href="/console/services/${name}" aria-label="${
      fill(words.switchFull, { service: title })
    }">${words.switch}</a>`
    const action = available.length > 0 || providerName !== null ? change : html`${words.settingsFirst} ${toFillIn ?? ''}`
    return [
      html`<tr><th scope="row">${title}</th><td>${chosenOf(words, { config, providers: all, service: name })}${mark}</td>${
        mayChange ? html`<td>${action}</td>` : html``
      }</tr>\n`
    ]
  })
  return table(words.services, [words.service, words.defaultProvider, ...mayChange ? [words.action] : []], rows)
}

/** The providers of a service in their order, and which of them cannot be used. */
function chosenOf (words: Words, of: Parameters<typeof unusable>[1]): Html {
  const codes = chosenFor(of.config, of.service)
  if (codes.length === 0) return html`<span class="quiet">${words.none}</span>`
  return html`${
    codes.map((code, index) => {
      const lack = unusable(words, of, code)
      return html`${index === 0 ? '' : ' → '}${nameOf(of.providers, code)}${
        lack === undefined ? html`` : html` <span class="badge warn">${words.choice_unusable}</span> <a href="${lack.path}">${lack.why}</a>`
      }`
    })
  }`
}

function card (
  words: Words,
  { code = '', name = code, services = {}, health }: ProviderView,
  { company, services: usable }: MyConfig
): Html {
  const stored = company.providers.find((configuration) => configuration.code === code)
  const needsNone = Object.values(usable).some(({ available }) => available.includes(code))
  return html`<li>${monogram(name)}<a href="/console/providers/${code}"><strong>${name}</strong></a> ${
    stored === undefined && needsNone ? html`` : stateBadge(words, stored)
  }${stored?.sandbox === true ? html` <span class="badge calm">${words.sandbox}</span>` : html``}
<p class="quiet">${serviceNames(words, Object.keys(services))}</p>${checkedAt(words, stored)}${
    health.state === 'failing' ? html`<p class="wrong">${words.failingVendor}</p>` : html``
  }</li>\n`
}

function refusedSection (words: Words, all: readonly ProviderView[]): Html {
  const refused = all.filter(({ state }) => state === 'refused')
  if (refused.length === 0) return html``
  return html`<section aria-labelledby="refused"><h2 id="refused">${words.refused}</h2><ul class="list">${
    refused.map(({ code, folder, health }) => html`<li><code>${code ?? folder}</code> ${reasonOf(words, health)}</li>\n`)
  }</ul></section>`
}
