import { ApiRefused, type Confirmation, type ConfirmRequest, copied, errorOf, type Html, html, notice, page, said, secretIn, textField,
  type Typed, visitOf, withWords, wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import type { OAuthAppView } from '../contract/oauth-apps.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

const wordsOf = withWords({ en, fr })
type Words = ReturnType<typeof wordsOf>

const at = '/console/oauth-apps'
const api = '/api/v1/oauth-apps'

type Named = { Params: { code: string }, Body: URLSearchParams }

/** The clients of the operator's at vendors: one form for each that a provider needs. */
export const oauthAppPages: FastifyPluginCallback = (app, _options, done) => {
  app.get('/oauth-apps', async (request, reply) => reply.page(await view(request)))

  app.post<Named>('/oauth-apps/:code', async (request, reply) => {
    const { params: { code }, body } = request
    const sandbox = body.get('sandbox') === 'true'
    const nameOf = (name: string): string => fieldOf(name, { code, sandbox })
    const clientId = (body.get(nameOf('clientId')) ?? '').trim()
    const clientSecret = (secretIn(body, nameOf('clientSecret')) ?? '').trim()
    const saved = await visitOf(request).api.send('PUT', `${api}/${encodeURIComponent(code)}`, {
      clientId,
      ...(clientSecret !== '' && { clientSecret }),
      sandbox
    })
    if (saved.ok) return reply.redirect(at, 303)
    return reply.code(saved.status).page(await view(request, { code, typed: { body, error: errorOf(saved) } }))
  })

  app.post<Named>('/oauth-apps/:code/remove', { config: { confirms: removal } }, async (request, reply) => {
    const { params: { code }, body } = request
    const sandbox = body.get('sandbox') === 'true'
    const removed = await visitOf(request).api.send('DELETE', `${api}/${encodeURIComponent(code)}?sandbox=${String(sandbox)}`)
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect(at, 303)
  })
  done()
}

/** Asks before a client is removed. */
async function removal (request: ConfirmRequest): Promise<Confirmation> {
  const visit = visitOf(request)
  const { oauthAppRemove: button, oauthAppRemoveIntro, oauthAppConnections, colon } = wordsOf(visit.words)
  const { data } = await visit.api.read<{ data: OAuthAppView[] }>(api)
  const sandbox = request.body.get('sandbox') === 'true'
  const app = data.find((one) => one.code === request.params.code && one.sandbox === sandbox)
  return {
    title: `${button}${colon}${app?.name ?? request.params.code}`,
    says: [oauthAppRemoveIntro],
    touches: [[oauthAppConnections, app?.connections]],
    button,
    back: at
  }
}

/** The page has a form for each client, each field a name of its own. */
function fieldOf (name: string, { code, sandbox }: Pick<OAuthAppView, 'code' | 'sandbox'>): string {
  return `${name}-${code}${sandbox ? '-sandbox' : ''}`
}

type Refused = { code: string, typed: Typed }

async function view (request: FastifyRequest, refused?: Refused) {
  const visit = visitOf(request)
  const words = wordsOf(visit.words)
  const { data } = await visit.api.read<{ data: OAuthAppView[] }>(api)
  const main = html`<p>${words.oauthAppsIntro}</p>${
    data.length === 0 ? html`<section><p>${words.oauthAppsNone}</p></section>` : data.map((app) => section(words, app, refused))
  }`
  return page({ ...visit, path: at }, { title: words.oauthApps, section: 'oauth-apps', main })
}

const tones = { missing: 'warn', ready: 'good', hosts_changed: 'bad' } as const

function section (words: Words, app: OAuthAppView, refused: Refused | undefined): Html {
  const { code, name, sandbox, redirectUri, clientId, hasSecret, state } = app
  const id = `app-${code}${sandbox ? '-sandbox' : ''}`
  const isRefused = refused?.code === code && (refused.typed.body.get('sandbox') === 'true') === sandbox
  const typed = isRefused ? refused.typed : undefined
  const which = html`<input type="hidden" name="sandbox" value="${String(sandbox)}">`
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${name}${
    sandbox ? html` · ${words.oauthAppOfTests}` : html``
  } <span class="badge ${tones[state]}">${words[`oauthApp_${state}`]}</span></h2>${said(words, typed, 'clientId', 'clientSecret')}${
    state === 'hosts_changed' ? notice('bad', html`<p>${words.oauthAppHostsChanged}</p>`) : html``
  }<div class="field"><p>${words.redirectUri}</p>${copied(words, redirectUri, words.redirectUri)}</div>
<form method="post" action="${at}/${code}">${which}${
    textField({
      name: fieldOf('clientId', app),
      label: words.oauthAppClientId,
      value: typed?.body.get(fieldOf('clientId', app)) ?? clientId ?? '',
      wrong: wrongOf(words, typed, '/clientId')
    })
  }${
    textField({
      name: fieldOf('clientSecret', app),
      label: words.oauthAppClientSecret,
      value: '',
      type: 'password',
      autocomplete: 'off',
      ...(hasSecret && { help: words.oauthAppKept }),
      wrong: wrongOf(words, typed, '/clientSecret')
    })
  }<div class="actions"><button>${words.oauthAppSave}</button></div></form>${
    clientId === null ? html`` : html`<hr><form method="post" action="${at}/${code}/remove">${which}
<p>${words.oauthAppRemoveIntro}</p><div class="actions"><button class="danger">${words.oauthAppRemove}</button></div></form>`
  }</section>`
}
