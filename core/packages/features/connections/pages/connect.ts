import { ApiRefused, type ConfigurationView, type Confirmation, type ConfirmRequest, copied, fill, type Html, html, type MyConfig, notice,
  page, serviceNames, servicesWith, time, type Visit, visitOf, withWords } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { ConnectView } from '../contract/connections.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

const wordsOf = withWords({ en, fr })
type Words = ReturnType<typeof wordsOf>

type Named = { Params: { code: string } }

const pathOf = (code: string): string => `/api/v1/company/providers/${encodeURIComponent(code)}/connect`

/** Connecting a provider with the company's account at the vendor: the way there, the way back, the end. */
export const connectPages: FastifyPluginCallback = (app, _options, done) => {
  // A link, because browsers let no form of a page with this policy lead to another site.
  app.get<Named>('/providers/:code/connect', async (request, reply) => {
    const { url } = await visitOf(request).api.read<ConnectView>(pathOf(request.params.code))
    return reply.redirect(url, 303)
  })

  app.get<Named & { Querystring: { confirmation?: unknown } }>('/providers/:code/connected', (request, reply) => {
    const visit = visitOf(request)
    const words = wordsOf(visit.words)
    const { params: { code }, query: { confirmation } } = request
    return reply.page(page({ ...visit, path: `/console/providers/${code}` }, {
      title: words.connection,
      section: 'providers',
      main: question(words, code, typeof confirmation === 'string' ? confirmation : '')
    }))
  })

  app.post<Named & { Body: URLSearchParams }>('/providers/:code/connected', async (request, reply) => {
    const { params: { code }, body } = request
    const confirmed = await visitOf(request).api.send('POST', pathOf(code), { confirmation: body.get('confirmation') ?? '' })
    if (!confirmed.ok) throw new ApiRefused(confirmed)
    return reply.redirect(`/console/providers/${code}`, 303)
  })

  app.post<Named>('/providers/:code/disconnect', { config: { confirms: disconnection } }, async (request, reply) => {
    const { params: { code } } = request
    const ended = await visitOf(request).api.send('DELETE', pathOf(code))
    if (!ended.ok) throw new ApiRefused(ended)
    return reply.redirect(`/console/providers/${code}`, 303)
  })
  done()
}

/** Asks before a connection ends. */
async function disconnection (request: ConfirmRequest): Promise<Confirmation> {
  const { words: shared, api } = visitOf(request)
  const [words, { code }] = [wordsOf(shared), request.params]
  const used = servicesWith(await api.read<MyConfig>('/api/v1/my/config'), code)
  return {
    title: `${words.disconnect}${words.colon}${code}`,
    says: [words.disconnectIntro, ...used.length === 0 ? [] : [fill(words.removeUsed, { services: serviceNames(words, used) })]],
    touches: [[words.services, used.length]],
    button: words.disconnect,
    back: `/console/providers/${encodeURIComponent(code)}`
  }
}

function question (words: Words, code: string, confirmation: string): Html {
  return html`<section><form method="post" action="/console/providers/${code}/connected">
<p>${words.connectConfirm}</p><input type="hidden" name="confirmation" value="${confirmation}">
<div class="actions"><button>${words.connect}</button> <a href="/console/providers/${code}">${words.cancelBack}</a></div></form></section>`
}

const tones = { connected: 'good', not_connected: 'warn', ended: 'bad' } as const

/** The connection of a stored configuration, where its provider has one. Who acts as somebody else connects nothing in their name. */
export function connectionSection ({ words: shared, acting }: Visit, { code, connection, problems = [] }: ConfigurationView): Html {
  if (connection === undefined) return html``
  const words = wordsOf(shared)
  const { state, connectedAt, redirectUri } = connection
  const problem = problems.find(({ path }) => path === '/connection')
  return html`<section aria-labelledby="connection"><h2 id="connection">${words.connection} ${badgeOf(words, state)}</h2>
<p>${words.connectIntro}</p>${problem === undefined || state !== 'ended' ? html`` : notice('bad', html`<p>${problem.message}</p>`)}
${connectedAt === undefined ? html`` : html`<p>${words.connectedAt} ${time(connectedAt)}</p>`}
<div class="field"><p>${words.redirectUri}</p>${copied(words, redirectUri, words.redirectUri)}</div>
${
    acting === undefined
      ? html`<p><a href="/console/providers/${code}/connect">${state === 'connected' ? words.connectAgain : words.connect}</a></p>`
      : html`<p>${words.connectOneself}</p>`
  }${
    state === 'not_connected' ? html`` : html`<hr><form method="post" action="/console/providers/${code}/disconnect">
<p>${words.disconnectIntro}</p><div class="actions"><button class="danger">${words.disconnect}</button></div></form>`
  }</section>`
}

function badgeOf (words: Words, state: keyof typeof tones): Html {
  return html`<span class="badge ${tones[state]}">${words[`connection_${state}`]}</span>`
}
