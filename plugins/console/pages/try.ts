import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { type Html, html } from '../../html.ts'
import { linesField, onceField, onceIn } from '../form/fields.ts'
import { objectIn } from '../form/json.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import { ApiRefused, type DryRunView, type MyConfig, type Refusal, withQuery } from '../session/api.ts'
import { pathIn } from '../session/mode.ts'
import { consoleParts } from '../session/services.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { notice, page, sentences } from './layout.ts'
import { type Installed, installedIn, readProviders } from './provider-names.ts'
import { sampleOf, senderAmong, triedOf } from './samples.ts'

type Named = { Params: { code: string } }
type Posted = Named & { Body: URLSearchParams }

/** What a provider would send for a request, and a dispatch in the vendor's test environment. */
export const tryPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named & { Querystring: { service?: unknown } }>('/providers/:code/try', async (request, reply) => {
    const visit = visitOf(request)
    const provider = await find(visit, request.params.code)
    const offered = triedOf(provider)
    const service = offered.find((name) => name === request.query.service) ?? offered[0] ?? ''
    const { company } = await visit.api.read<MyConfig>('/api/v1/my/config')
    const permitted = company.providers.find(({ code }) => code === provider.code)?.settings[
      consoleParts[service]?.sender?.setting ?? ''
    ]
    const sample = sampleOf(service, senderAmong(permitted, visit.actor.email))
    return reply.page(view(visit, provider, { service, text: JSON.stringify(sample, null, 2) }))
  })

  app.post<Posted>('/providers/:code/try', async (request, reply) => {
    const { visit, provider, typed, body } = await read(request)
    if (body === undefined) return unreadable(reply, visit, provider, typed)
    const path = withQuery(`/api/v1/company/providers/${provider.code}/dry-run`, { service: typed.service })
    const run = await visit.api.send<DryRunView>('POST', path, body)
    if (!run.ok) return refused(reply, visit, provider, typed, run)
    return reply.page(view(visit, provider, typed, requests(visit.words, run.body)))
  })

  app.post<Posted>('/providers/:code/try/send', async (request, reply) => {
    const { visit, provider, typed, body } = await read(request)
    if (body === undefined) return unreadable(reply, visit, provider, typed)
    const sent = await visit.api.send<{ dispatchId: string }>('POST', `/api/${encodeURIComponent(typed.service)}?sandbox=true`, {
      ...body,
      providerName: provider.code
    }, onceIn(request.body))
    if (!sent.ok) return refused(reply, visit, provider, typed, sent)
    return reply.redirect(pathIn('test', `/console/dispatches/${sent.body.dispatchId}`), 303)
  })
  done()
}

type Typed = { service: string, text: string }

async function find ({ api, actor: { role } }: Visit, code: string): Promise<Installed> {
  const provider = installedIn(await readProviders({ api }), code)
  if (provider !== undefined && triedOf(provider).length > 0 && role === 'admin') return provider
  const [status, error, message] = role === 'admin'
    ? [404, 'not_found', 'There is no such provider.'] as const
    : [403, 'forbidden', 'Only an admin of the company can do this.'] as const
  throw new ApiRefused({ ok: false, status, error: { error, message, requestId: '' } })
}

async function read (request: Parameters<typeof visitOf>[0] & { params: Named['Params'], body: URLSearchParams }) {
  const visit = visitOf(request)
  const provider = await find(visit, request.params.code)
  const typed = { service: request.body.get('of') ?? '', text: request.body.get('request') ?? '' }
  return { visit, provider, typed, body: objectIn(typed.text) }
}

function unreadable (reply: FastifyReply, visit: Visit, provider: Installed, typed: Typed): FastifyReply {
  return reply.code(400).page(view(visit, provider, typed, notice('bad', html`<p>${visit.words.tryUnreadable}</p>`)))
}

function refused (reply: FastifyReply, visit: Visit, provider: Installed, typed: Typed, { status, error }: Refusal): FastifyReply {
  return reply.code(status).page(view(visit, provider, typed, notice('bad', sentences(visit.words, error))))
}

function view (visit: Visit, provider: Installed, { service, text }: Typed, said: Html = html``): Html {
  const { words } = visit
  const { code, name = code } = provider
  const at = `/console/providers/${code}/try`
  const others = triedOf(provider).filter((one) => one !== service)
  const main = html`<p><a href="/console/providers/${code}">${words.backToSettings}</a></p>${said}
<section aria-labelledby="request"><h2 id="request">${fill(words.tryRequest, { service: wordFor(words, 'service', service) })}</h2>${
    others.length === 0
      ? html``
      : html`<p>${words.tryOthers} ${
        others.map((one, index) =>
          html`${index === 0 ? '' : ' · '}<a href="${withQuery(at, { service: one })}">${wordFor(words, 'service', one)}</a>`
        )
      }</p>`
  }
<form method="post" action="${at}"><input type="hidden" name="of" value="${service}">${onceField()}
${linesField({ name: 'request', label: words.tryBody, value: text, help: words.tryBodyHelp })}
<div class="actions"><button>${words.dryRun}</button>
<button class="second" formaction="${at}/send">${words.trySend}</button></div>
<p class="quiet">${words.tryIntro}</p></form></section>`
  return page({ ...visit, path: at }, { title: fill(words.tryTitle, { name }), section: 'providers', main })
}

const tones = { complete: 'good', reply_needed: 'warn', refused: 'bad', nothing_sent: 'warn' } as const

function requests (words: Words, { requests: all, end, message }: DryRunView): Html {
  const shown = all.map(({ method, url, headers, body, counts }, index) =>
    html`<h3>${String(index + 1)}. <code>${method} ${url}</code> ${
      counts ? html`<span class="badge warn">${words.requestCounts}</span>` : html``
    }</h3>
<pre>${Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join('\n')}${body === undefined ? '' : `\n\n${body}`}</pre>`
  )
  return html`<section aria-labelledby="requests"><h2 id="requests">${words.dryRunRequests}</h2>
${notice(tones[end], sentences(words, { message }))}${shown}</section>`
}
