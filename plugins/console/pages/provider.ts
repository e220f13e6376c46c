import type { JsonObject } from '@dispatch/common'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { type Html, html } from '../../html.ts'
import { checkField } from '../form/fields.ts'
import type { LabelOf } from '../form/place.ts'
import type { SettingsForm } from '../form/schema.ts'
import { type Filled, readSettings, settingsFields, titleIn } from '../form/settings.ts'
import { fill, serviceNames, wordFor, type Words } from '../language/language.ts'
import { ApiRefused, type CheckView, type ConfigurationView, type ErrorBody, type MyConfig, type ProviderView, type SuggestionsView,
  withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import { guideSection, readGuide } from './guide.ts'
import { copyable, notice, page, sentences, time } from './layout.ts'
import { type Installed, installedIn, readWholeProviders } from './provider-names.ts'
import { servicesSection } from './provider-services.ts'
import { triedOf } from './samples.ts'
import { checkedAt, servicesWith, stateBadge } from './settings-state.ts'

type Named = { Params: { code: string } }
type Posted = Named & { Body: URLSearchParams }

/** A provider, and the company's settings for it: to change, to check with the vendor, to remove. */
export const providerPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named & { Querystring: { saved?: unknown, chosen?: unknown } }>('/providers/:code', async (request, reply) => {
    const visit = visitOf(request)
    const { saved, chosen } = request.query
    const said = chosen !== undefined
      ? notice('good', html`<p>${visit.words.doesSaved}</p>`)
      : saved === undefined
      ? undefined
      : (found: Found) => savedSaid(visit.words, found)
    return reply.page(await view(visit, find(visit, request.params.code), request.params.code, { said }))
  })

  app.post<Posted>('/providers/:code', (request, reply) => save(visitOf(request), request.params.code, request.body, reply))

  app.post<Posted>('/providers/:code/suggest', (request, reply) => suggest(visitOf(request), request.params.code, request.body, reply))

  app.post<Posted>('/providers/:code/check', async (request, reply) => {
    const visit = visitOf(request)
    const { code } = request.params
    const { provider } = await find(visit, code)
    const checked = await visit.api.send<CheckView>('POST', `${pathOf(provider)}/check`)
    if (!checked.ok) throw new ApiRefused(checked)
    return reply.page(await view(visit, find(visit, code), code, { said: checkSaid(visit.words, checked.body) }))
  })

  app.post<Posted>('/providers/:code/remove', { config: { confirms: removal } }, async (request, reply) => {
    const visit = visitOf(request)
    const { provider } = await find(visit, request.params.code)
    const removed = await visit.api.send('DELETE', pathOf(provider))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect(withQuery('/console/providers', { removed: provider.code }), 303)
  })
  done()
}

/** Asks before settings are removed: which services nobody does without them. */
async function removal (request: ConfirmRequest): Promise<Confirmation> {
  const visit = visitOf(request)
  const { words } = visit
  const { provider: { code, name = code }, used } = await find(visit, request.params.code)
  return {
    title: `${words.remove}${words.colon}${name}`,
    says: [words.removeIntro, ...used.length === 0 ? [] : [fill(words.removeUsed, { services: serviceNames(words, used) })]],
    touches: [[words.services, used.length]],
    button: words.remove,
    back: `/console/providers/${code}`
  }
}

/** `open`: the services of the provider for which the company has chosen nobody yet; `used`: those that are done by it. */
type Found = {
  provider: Installed
  providers: readonly ProviderView[]
  config: Pick<MyConfig, 'company'>
  stored: ConfigurationView | undefined
  open: string[]
  used: string[]
}

async function find ({ api }: Visit, code: string): Promise<Found> {
  const [providers, { company, services }] = await Promise.all([
    readWholeProviders({ api }),
    api.read<MyConfig>('/api/v1/my/config')
  ])
  const provider = installedIn(providers, code)
  if (provider === undefined) {
    throw new ApiRefused({ ok: false, status: 404, error: { error: 'not_found', message: 'There is no such provider.', requestId: '' } })
  }
  const stored = company.providers.find((configuration) => configuration.code === code)
  const used = servicesWith({ company }, code)
  return {
    provider,
    providers,
    config: { company },
    stored,
    used,
    open: Object.keys(services).filter((name) => isOpen(services[name], code))
  }
}

function isOpen (service: MyConfig['services'][string] | undefined, code: string): boolean {
  return service?.providerName === null && service.available.includes(code)
}

/** The settings are saved, and how the provider comes to do what nobody does yet. */
function savedSaid (words: Words, { provider: { code }, open }: Found): Html {
  const links = open.map((name, index) =>
    html`${index === 0 ? '' : ' · '}<a href="${withQuery(`/console/services/${name}`, { to: code })}">${
      wordFor(words, 'service', name)
    }</a>`
  )
  return notice('good', html`<p>${words.settingsSaved}</p>${links.length === 0 ? html`` : html`<p>${words.switchNext} ${links}</p>`}`)
}

function pathOf ({ code }: Installed): string {
  return `/api/v1/company/providers/${code}`
}

function formOf ({ settings = {} }: ProviderView): SettingsForm {
  return settings
}

/** What the form of a provider calls its settings. */
function labelsOf (words: Words, provider: ProviderView): LabelOf {
  const form = formOf(provider)
  return (name) => form.properties?.[name] === undefined ? undefined : titleIn(words, form, name)
}

async function save (visit: Visit, code: string, body: URLSearchParams, reply: FastifyReply): Promise<FastifyReply> {
  const found = await find(visit, code)
  const settings = readSettings(formOf(found.provider), body)
  const sandbox = body.get(':sandbox') === 'true'
  const saved = await visit.api.send('PUT', pathOf(found.provider), { settings, sandbox })
  if (saved.ok) return reply.redirect(`/console/providers/${found.provider.code}?saved=1`, 303)
  const said = notice('bad',
    html`<p>${visit.words.settingsRefused}</p>${
      sentences(visit.words, saved.error, { labelOf: labelsOf(visit.words, found.provider), whole: { settings } })
    }`)
  return reply.code(saved.status).page(await view(visit, found, code, { said, typed: { settings, sandbox, error: saved.error } }))
}

/** Shows the form as it was typed, with what the vendor has for its fields. */
async function suggest (visit: Visit, code: string, body: URLSearchParams, reply: FastifyReply): Promise<FastifyReply> {
  const { words, api } = visit
  const found = await find(visit, code)
  const form = formOf(found.provider)
  const typed = { settings: readSettings(form, body), sandbox: body.get(':sandbox') === 'true' }
  const requested = await api.send<SuggestionsView>('POST', `${pathOf(found.provider)}/suggestions`, typed)
  if (!requested.ok) {
    const said = notice('bad',
      html`<p>${words.suggestRefused}</p>${sentences(words, requested.error, { labelOf: labelsOf(words, found.provider), whole: typed })}`)
    return reply.code(requested.status).page(await view(visit, found, code, { said, typed: { ...typed, error: requested.error } }))
  }
  const { data } = requested.body
  const suggestions = Object.fromEntries(data.map(({ setting, values = [] }) => [
    setting,
    values.map(({ value, title }) => ({ value: String(value), label: title ?? String(value) }))
  ]))
  const said = html`${data.map((suggested) => suggestedSaid(words, form, suggested))}${
    hasNewSecret(form, typed.settings) ? notice('warn', html`<p>${words.suggestSecrets}</p>`) : html``
  }`
  return reply.page(await view(visit, found, code, { said, typed: { ...typed, suggestions } }))
}

function suggestedSaid (
  words: Words,
  form: SettingsForm,
  { setting, result, values = [], message }: SuggestionsView['data'][number]
): Html {
  const name = titleIn(words, form, setting)
  if (result === 'ok') {
    return notice(values.length === 0 ? 'warn' : 'good', html`<p>${fill(words.suggested, { name, n: values.length })}</p>`)
  }
  return notice(tones[result],
    html`<p>${fill(words.suggestFailed, { name })}</p>${message === undefined ? html`` : sentences(words, { message })}`)
}

/** A secret that was typed does not come back. */
function hasNewSecret ({ properties = {} }: SettingsForm, settings: JsonObject): boolean {
  return Object.entries(settings).some(([name, value]) => typeof value === 'string' && properties[name]?.['x-secret'] === true)
}

type Typed = { settings: JsonObject, sandbox: boolean, error?: ErrorBody, suggestions?: Filled['suggestions'] }

type Shown = { said?: Html | ((found: Found) => Html) | undefined, typed?: Typed }

async function view (visit: Visit, requested: Found | Promise<Found>, code: string, { said, typed }: Shown): Promise<Html> {
  const { words, actor: { role }, api, parts } = visit
  const [found, guide] = await Promise.all([requested, readGuide(api, code, words.code)])
  const { provider, stored } = found
  const settings = role === 'admin' ? settingsSection(words, found, typed) : html`<section><p>${words.settingsNotYours}</p></section>`
  const main = html`${typeof said === 'function' ? said(found) : said ?? html``}${
    stored?.sandbox === true ? html`<div class="notice warn"><p>${words.sandboxNotice}</p></div>` : html``
  }<div class="guided"><div>${settings}${
    role === 'admin' && stored !== undefined
      ? html`${servicesSection(words, found)}${parts.providerSections.map((section) => section(visit, stored))}${webhooks(words, stored)}`
      : html``
  }</div><div>${about(words, provider)}${guideSection(words, provider.name ?? provider.code, guide)}</div></div>`
  return page({ ...visit, path: `/console/providers/${provider.code}` }, {
    title: provider.name ?? provider.code,
    section: 'providers',
    main
  })
}

function settingsSection (words: Words, { provider, stored, used }: Found, typed: Typed | undefined): Html {
  const form = formOf(provider)
  const filled = filledOf(form, stored, typed)
  const at = `/console/providers/${provider.code}`
  const noFields = Object.keys(form.properties ?? {}).length === 0
  return html`<section aria-labelledby="settings"><h2 id="settings">${words.settings} ${stateBadge(words, stored)}</h2>${
    stored?.lastCheck === undefined ? html`` : html`<p>${checkedAt(words, stored)}</p>`
  }
<form method="post" action="${at}" novalidate>
${noFields ? html`<p>${words.settingsEmpty}</p>` : settingsFields(words, form, filled)}
${
    provider.sandbox === undefined
      ? html``
      : checkField({ name: ':sandbox', label: words.useSandbox, checked: typed?.sandbox ?? stored?.sandbox ?? false })
  }
<div class="actions"><button>${words.save}</button>${
    (provider.suggestions ?? []).length === 0
      ? html``
      : html` <button class="second" formaction="${at}/suggest">${words.suggest}</button>`
  }</div></form>
${
    stored === undefined ? html`` : html`<hr><form method="post" action="${at}/check"><p>${words.checkIntro}</p>
<div class="actions"><button class="second">${words.check}</button></div></form>
<hr><form method="post" action="${at}/remove"><p>${words.removeIntro}</p>${usedBy(words, used)}
<div class="actions"><button class="danger">${words.remove}</button></div></form>`
  }${
    triedOf(provider).length > 0 && (stored !== undefined || noFields)
      ? html`<hr><p><a href="${at}/try">${words.tryLink}</a></p>`
      : html``
  }</section>`
}

/** The services that use the provider, which would be refused without its settings. */
function usedBy (words: Words, services: readonly string[]): Html {
  if (services.length === 0) return html``
  return html`<p><strong>${fill(words.removeUsed, { services: serviceNames(words, services) })}</strong></p>`
}

/** What stands in the fields. Of what was typed, secrets are not shown again: the stored ones stand in their place. */
function filledOf ({ properties = {} }: SettingsForm, stored: ConfigurationView | undefined, typed: Typed | undefined): Filled {
  const kept = stored?.settings ?? {}
  if (typed === undefined) return { values: kept, problems: stored?.problems?.map(fromSettings) ?? [] }
  const secrets = Object.keys(properties).filter((name) => properties[name]?.['x-secret'] === true)
  const values = Object.fromEntries(Object.keys(properties).flatMap((name) => {
    const value = (secrets.includes(name) ? kept : typed.settings)[name]
    return value === undefined ? [] : [[name, value]]
  }))
  return { values, problems: typed.error?.details ?? [], suggestions: typed.suggestions }
}

/** The problems of stored settings have paths within them. */
function fromSettings ({ path, message }: { path: string, message: string }): { path: string, message: string } {
  return { path: path.startsWith('/settings') ? path : `/settings${path}`, message }
}

const tones = { ok: 'good', failed: 'bad', cannot_be_checked: 'warn' } as const

function checkSaid (words: Words, { result, message }: CheckView): Html {
  return notice(tones[result], html`<p>${words[`check_${result}`]}</p>${message === undefined ? html`` : sentences(words, { message })}`)
}

function webhooks (words: Words, { webhookUrls = {}, webhooksRegistered = {} }: ConfigurationView): Html {
  const registered = Object.entries(webhooksRegistered)
  const all = Object.entries(webhookUrls).filter(([service]) => webhooksRegistered[service] === undefined)
  return html`${registeredAt(words, registered)}${toEnter(words, all)}`
}

/** Nobody enters these at the vendor. */
function registeredAt (words: Words, all: readonly [service: string, at: string][]): Html {
  if (all.length === 0) return html``
  return html`<section aria-labelledby="registered"><h2 id="registered">${words.webhooks}</h2><p>${words.webhooksRegistered}</p><dl>${
    all.map(([service, at]) => html`<dt>${wordFor(words, 'service', service)}</dt><dd>${time(at)}</dd>`)
  }</dl></section>`
}

function toEnter (words: Words, all: readonly [service: string, url: string][]): Html {
  if (all.length === 0) return html``
  return html`<section aria-labelledby="webhooks"><h2 id="webhooks">${words.webhooks}</h2><p>${words.webhooksIntro}</p>${
    all.map(([service, url]) =>
      html`<div class="field"><label for="url-${service}">${
        wordFor(words, 'service', service)
      }</label><span class="copied"><input id="url-${service}" readonly value="${url}"${
        copyable(words, wordFor(words, 'service', service))
      }></span></div>`
    )
  }</section>`
}

function about (words: Words, { code, name = code, version = '', docs, hosts = [], services = {}, health }: Installed): Html {
  return html`<section aria-labelledby="about"><h2 id="about">${fill(words.about, { name })}</h2>
${health.state === 'failing' ? notice('warn', html`<p>${words.failingVendor}</p>`) : html``}
<dl><dt>${words.services}</dt><dd>${serviceNames(words, Object.keys(services))}</dd>
<dt>${words.version}</dt><dd>${version}</dd>
${hosts.length === 0 ? html`` : html`<dt>${words.hosts}</dt><dd>${hosts.join(', ')}</dd>`}
${docs === undefined ? html`` : html`<dt>${words.guide}</dt><dd><a href="${docs}" rel="noreferrer">${docs}</a></dd>`}</dl></section>`
}
