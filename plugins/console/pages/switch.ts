import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { radioField } from '../form/fields.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import { ApiRefused, type ProviderView, withQuery } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { notice, page, table } from './layout.ts'
import { nameOf, settingsLinks } from './provider-names.ts'
import { environmentOf, type Known, readKnown, settingsOf } from './switch-known.ts'
import { listSection } from './switch-list.ts'

type Named = { Params: { service: string } }

/** Another provider of a service for the company: it is chosen, what changes is shown, and then it is changed. */
export const switchPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named & { Querystring: { to?: unknown } }>('/services/:service', async (request, reply) => {
    const visit = visitOf(request)
    const { params: { service }, query: { to } } = request
    const known = await readKnown(visit, service)
    const { words } = visit
    const main = typeof to === 'string' ? preview(words, known, to) : choice(words, known)
    return reply.page(
      page(visit, { title: fill(words.switchTitle, { service: wordFor(words, 'service', service) }), section: 'providers', main })
    )
  })

  app.post<Named & { Body: URLSearchParams }>('/services/:service', async (request, reply) => {
    const { params: { service }, body } = request
    const providerName = body.get('to') === '' ? null : body.get('to')
    const changed = await visitOf(request).api.send('PUT', `/api/v1/company/defaults/${encodeURIComponent(service)}`, { providerName })
    if (!changed.ok) throw new ApiRefused(changed)
    return reply.redirect(withQuery('/console/providers', { changed: service }), 303)
  })
  done()
}

function choice (words: Words, known: Known): Html {
  const { service, providers, now = '', available } = known
  const others = settingsLinks(providers, service, available)
  const options = [...available.map((value) => ({ value, label: nameOf(providers, value) })), { value: '', label: words.none }]
  return html`<section><form action="/console/services/${service}">
${radioField({ name: 'to', label: words.switchChoose, value: now, options })}${
    others === undefined ? html`` : html`<p class="quiet">${words.settingsFirst} ${others}</p>`
  }
<div class="actions"><button>${words.switchLook}</button> <a href="/console/providers">${words.cancelBack}</a></div>
</form></section>${listSection(words, known)}`
}

function preview (words: Words, known: Known, to: string): Html {
  const { service, config, providers, now } = known
  const list = config.company.lists?.[service]
  if (to === (now ?? '') && list === undefined) {
    return html`${notice('warn', html`<p>${words.switchSame}</p>`)}${choice(words, known)}`
  }
  const stored = config.company.providers.find(({ code }) => code === to)
  const needsSettings = to !== '' && stored?.valid !== true
  const rows = ([
    [words.provider, list?.map(({ providerName }) => nameOf(providers, providerName)).join(' → ') ?? nameOrNone(words, providers, now),
      nameOrNone(words, providers, to)],
    [words.environment, environmentOf(words, config, now), environmentOf(words, config, to)],
    [words.hosts, hostsOf(providers, now), hostsOf(providers, to)],
    [words.configuration, settingsOf(words, config, now), settingsOf(words, config, to)]
  ] as const).filter(([, ...both]) => both.some((text) => text !== '')).map(([title, before, after]) =>
    html`<tr><th scope="row">${title}</th><td>${before}</td><td>${after}</td></tr>\n`
  )
  return html`<section>${table(words.switchLook, [words.switchWhat, words.switchNow, words.switchThen], rows)}</section>
${list === undefined ? html`` : notice('warn', html`<p>${words.switchList}</p>`)}
${to === '' ? notice('warn', html`<p>${words.switchNone}</p>`) : html``}
${needsSettings ? notice('warn', html`<p>${words.switchUnready}</p>`) : html``}
<section><p>${words.switchIntro}</p>
<form method="post" action="/console/services/${service}"><input type="hidden" name="to" value="${to}">
<div class="actions"><button>${words.switchDo}</button> <a href="/console/services/${service}">${words.cancelBack}</a></div></form></section>`
}

function nameOrNone (words: Words, providers: readonly ProviderView[], code: string | undefined): string {
  return code === undefined || code === '' ? words.none : nameOf(providers, code)
}

function hostsOf (providers: readonly ProviderView[], code: string | undefined): string {
  return providers.find((provider) => provider.code === code)?.hosts?.join(', ') ?? ''
}
