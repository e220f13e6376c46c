import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import { type Api, ApiRefused, type CallbackSecrets, type CallbackView, type KeyView, type NewCallbackSecret, type NewKeyView,
  type UserView, withQuery } from '../session/api.ts'
import { partsAt, type Visit, visitOf } from '../session/visit.ts'
import { callbackList } from './callbacks.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import { keyForm, keyIn, keyTable, madeBy, madePage } from './keys.ts'
import { copied, copyable, notice, page, table, time } from './layout.ts'
import { withMany } from './many.ts'
import { errorOf, type Typed } from './typed.ts'

type List<Item> = { data: Item[], nextCursor: string | null }
type Query = Readonly<Record<string, unknown>>
type Shown = { said?: Html, typed?: Typed, already?: Html, query?: Query }

/** What people who write programs need: API keys, the secret of the callbacks, the callbacks about the company. */
export const developersPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/developers', async (request, reply) => {
    const [visit, { query }] = [visitOf(request), request]
    const { keyRevoked, callbackSent } = visit.words
    const good = query['revoked'] !== undefined ? keyRevoked : query['sent'] === undefined ? undefined : callbackSent
    const said = good === undefined ? html`` : notice('good', html`<p>${good}</p>`)
    return reply.page(await view(request, { said, query }))
  })

  app.post<{ Body: URLSearchParams }>('/developers/keys', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const { api, words, actor } = visit
    const requested = keyIn(body, visit.mode)
    const { userId = actor.userId } = requested
    const path = withQuery('/api/v1/keys', { mode: visit.mode, limit: '100', userId: String(userId) })
    const keys = await api.send<List<KeyView>>('GET', path)
    const made = keys.ok ? madeBy(body, requested.name, keys.body.data) : undefined
    if (made !== undefined) {
      return reply.code(409).page(await view(request, { already: warning(fill(words.keyMadeAlready, { name: made.name })) }))
    }
    const created = await api.send<NewKeyView>('POST', '/api/v1/keys', requested)
    if (created.ok) return reply.page(madePage(visit, created.body))
    return reply.code(created.status).page(await view(request, { typed: { body, error: errorOf(created) } }))
  })

  app.post<{ Params: { id: string } }>('/developers/keys/:id', { config: { confirms: revocation } }, async (request, reply) => {
    const revoked = await visitOf(request).api.send('DELETE', `/api/v1/keys/${encodeURIComponent(request.params.id)}`)
    if (!revoked.ok) throw new ApiRefused(revoked)
    return reply.redirect('/console/developers?revoked=1', 303)
  })

  withMany(app, {
    path: '/developers/keys/chosen/revoke',
    list: () => '/console/developers',
    section: 'developers',
    title: ({ words }) => words.keysRevoke,
    says: ({ words }) => words.keysRevokeIntro,
    act: ({ api }, id) => api.send('DELETE', `/api/v1/keys/${encodeURIComponent(id)}`)
  })

  const renewal = { confirms: (request: ConfirmRequest) => secretRenewal(visitOf(request).words, '/console/developers') }
  app.post<{ Body: URLSearchParams }>('/developers/secret', { config: renewal }, async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const { secrets } = await visit.api.read<CallbackSecrets>('/api/v1/company/callback-secret')
    // A secret is shown once: a form that is sent again must not replace the one that its first sending has made.
    if ((body.get('newest') ?? '') !== newestOf(secrets)) {
      return reply.code(409).page(await view(request, { said: warning(visit.words.callbackSecretMadeAlready) }))
    }
    const made = await visit.api.send<NewCallbackSecret>('POST', '/api/v1/company/callback-secret')
    if (!made.ok) throw new ApiRefused(made)
    return reply.page(secretPage(visit, made.body))
  })

  app.post<{ Params: { id: string } }>('/developers/callbacks/:id', async (request, reply) => {
    const sent = await visitOf(request).api.send('POST', `/api/v1/callbacks/${encodeURIComponent(request.params.id)}/replay`)
    if (!sent.ok) throw new ApiRefused(sent)
    return reply.redirect('/console/developers?sent=1', 303)
  })
  done()
}

/** Asks before a key is revoked: what it may be used for, and when it was last. */
async function revocation (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const key = await findKey(api, request.params.id)
  return {
    title: fill(words.keyRevokeFull, { name: key.name }),
    says: [words.keyRevokeIntro],
    touches: [
      [words.keyScopes, key.scopes.map((scope) => wordFor(words, 'scope', scope)).join(', ')],
      [words.keyUsed, key.lastUsedAt?.slice(0, 10) ?? words.keyUsedNever]
    ],
    button: words.keyRevoke,
    back: '/console/developers'
  }
}

async function findKey (api: Api, id: string): Promise<KeyView> {
  let cursor: string | null = ''
  while (cursor !== null) {
    const { data, nextCursor }: List<KeyView> = await api.read(withQuery('/api/v1/keys', { limit: '100', cursor }))
    const key = data.find((one) => one.id === id)
    if (key !== undefined) return key
    cursor = nextCursor
  }
  throw new ApiRefused({ ok: false, status: 404, error: { error: 'not_found', message: `There is no key "${id}".`, requestId: '' } })
}

/** Asks before a new secret takes the place of one with which callbacks are signed. */
export function secretRenewal (words: Words, back: string): Confirmation {
  return { title: words.callbackSecretNew, says: [words.callbackSecretNewIntro], button: words.callbackSecretNew, back }
}

function warning (text: string): Html {
  return notice('warn', html`<p>${text}</p>`)
}

function newestOf (secrets: CallbackSecrets['secrets']): string {
  return secrets[0]?.createdAt ?? ''
}

async function view (request: FastifyRequest, { said = html``, typed, already, query = {} }: Shown): Promise<Html> {
  const visit = visitOf(request)
  const { words, api, actor: { role } } = visit
  const [keyCursor, callbackCursor] = ['keys', 'callbacks'].map((name) => typeof query[name] === 'string' ? query[name] : '')
  const none = { data: [], nextCursor: null }
  const [keys, users, { secrets }, callbacks] = await Promise.all([
    api.read<List<KeyView>>(withQuery('/api/v1/keys', { mode: visit.mode, limit: '40', cursor: keyCursor })),
    role === 'member' ? none : api.read<List<UserView>>('/api/v1/users?limit=100'),
    role === 'admin' ? api.read<CallbackSecrets>('/api/v1/company/callback-secret') : { secrets: [] },
    role === 'member' ? none : api.read<List<CallbackView>>(withQuery('/api/v1/company/callbacks', { limit: '40', cursor: callbackCursor }))
  ])
  const main = html`${said}${links(words, `${request.protocol}://${request.host}/openapi.json`)}${
    role === 'member' ? html`` : requestsSection(words)
  }
<section aria-labelledby="keys"><h2 id="keys">${words.keys}</h2><p>${words.keysIntro}</p>${keyTable(visit, keys.data, users.data)}${
    more(words, 'keys', keys.nextCursor)
  }${partsAt(visit.parts, 'keys').map((part) => part(words))}</section>${
    keyCursor === '' ? keyForm(visit, keys.data[0]?.id ?? '', users.data, { typed, already }) : html``
  }${role === 'admin' ? html`${endpointsSection(words)}${secretSection(words, secrets)}` : html``}${
    role === 'member' ?
      html`` :
      html`<section aria-labelledby="told"><h2 id="told">${words.companyCallbacks}</h2>${
        callbacks.data.length === 0
          ? html`<p>${words.companyCallbacksNone}</p>`
          : callbackList(visit, callbacks.data, '/console/developers/callbacks')
      }${more(words, 'callbacks', callbacks.nextCursor)}</section>`
  }`
  return page({ ...visit, path: '/console/developers' }, { title: words.developers, section: 'developers', main })
}

function more (words: Words, list: 'keys' | 'callbacks', cursor: string | null): Html {
  return cursor === null
    ? html``
    : html`<hr><p><a href="${withQuery('/console/developers', { [list]: cursor })}" rel="next">${words.more}</a></p>`
}

function links (words: Words, document: string): Html {
  return html`<section aria-labelledby="api"><h2 id="api">${words.documentation}</h2><p>${words.developersIntro}</p>
<ul><li><a href="/docs">${words.apiPages}</a></li><li><a href="/docs/providers">${words.apiProviders}</a></li>
<li><a href="/openapi.json">${words.apiDocument}</a></li></ul><p>${words.apiDocumentIntro}</p>
<pre${copyable(words, words.apiDocument)}>npx openapi-typescript ${document} -o schema.ts
npx @hey-api/openapi-ts -i ${document} -o client</pre></section>`
}

function requestsSection (words: Words): Html {
  return html`<section aria-labelledby="requests"><h2 id="requests">${words.requests}</h2><p>${words.requestsIntro}</p>
<p><a class="button second" href="/console/developers/requests">${words.requestsSee}</a></p></section>`
}

function endpointsSection (words: Words): Html {
  return html`<section aria-labelledby="endpoints"><h2 id="endpoints">${words.endpoints}</h2><p>${words.endpointsIntro}</p>
<p><a class="button second" href="/console/developers/endpoints">${words.endpointsManage}</a></p></section>`
}

function secretSection (words: Words, secrets: CallbackSecrets['secrets']): Html {
  const rows = secrets.map(({ createdAt, expiresAt }) =>
    html`<tr><td>${time(createdAt)}</td><td>${expiresAt === null ? words.callbackSecretCurrent : time(expiresAt)}</td></tr>\n`
  )
  return html`<section aria-labelledby="secret"><h2 id="secret">${words.callbackSecret}</h2><p>${words.callbackSecretIntro}</p>${
    rows.length === 0
      ? html`<p>${words.callbackSecretNone}</p>`
      : table(words.callbackSecret, [words.created, words.callbackSecretValid], rows)
  }<form method="post" action="/console/developers/secret"><input type="hidden" name="newest" value="${newestOf(secrets)}">
<div class="actions"><button class="danger">${words.callbackSecretNew}</button></div></form></section>`
}

/** The page that shows a new secret, once. */
function secretPage (visit: Visit, { secret, previousUntil }: NewCallbackSecret): Html {
  const { words } = visit
  const main = html`${notice('good', html`<p>${words.callbackSecretMade}</p>`)}<section aria-label="${words.callbackSecret}">
<p>${copied(words, secret)}</p>${
    previousUntil === null ? html`` : html`<p>${words.callbackSecretUntil} ${time(previousUntil)}</p>`
  }</section><p><a href="/console/developers">${words.developersBack}</a></p>`
  return page({ ...visit, path: '/console/developers' }, { title: words.callbackSecret, section: 'developers', main })
}
