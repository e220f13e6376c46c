import { ApiRefused, checkField, type Confirmation, type ConfirmRequest, copied, errorOf, type Html, html, notice, optionsFor, page,
  proofForm, radioField, refusedProof, said, secretIn, sentences, servicesField, servicesIn, statusOf, textField, time, type Typed,
  type UserView, type Visit as ConsoleVisit, withQuery, wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { MySingleSignOnView, SingleSignOnView } from '../contract/single-sign-on.ts'
import { type Visit, visitOf, type Words, wordsOf } from './words.ts'

const at = '/console/company/single-sign-on'
const api = '/api/v1/company/single-sign-on'

type Current = NonNullable<SingleSignOnView['current']>

/** The company's own OpenID provider, for those who run the company. */
export const singleSignOnPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/company/single-sign-on', async (request, reply) => {
    const visit = visitOf(request)
    const { saved, of: issuer } = request.query
    const reported = saved === undefined ? html`` : notice('good', html`<p>${visit.words.signOnSaved}</p>`)
    return reply.page(
      await view(visit, { message: reported, ...typeof issuer === 'string' && issuer.trim() !== '' ? { issuer: issuer.trim() } : {} })
    )
  })

  app.post<{ Body: URLSearchParams }>('/company/single-sign-on', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const saved = await visit.api.send('PUT', api, settingsIn(body))
    if (saved.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(saved.status).page(await view(visit, { typed: { body, error: errorOf(saved) } }))
  })

  app.post<{ Body: URLSearchParams }>('/sign-on/unlink', { config: { confirms: 'form' } }, async (request, reply) => {
    const { api: own, words } = visitOf(request)
    const unlinked = await own.send('POST', '/api/v1/my/single-sign-on/unlink', { password: secretIn(request.body, 'proof') ?? '' })
    if (unlinked.ok) return reply.redirect('/console/sessions', 303)
    const why = unlinked.status === 409 ? notice('bad', sentences(words, unlinked.error)) : refusedProof(words, unlinked)
    const main = html`${why}<p><a href="/console/sessions">${words.account}</a></p>`
    return reply.code(statusOf(unlinked)).page(page(visitOf(request), { title: words.signOn, section: 'sessions', main }))
  })

  app.post<{ Params: { id: string } }>('/company/users/:id/unlink', { config: { confirms: unlinking } }, async (request, reply) => {
    const unlinked = await visitOf(request).api.send('DELETE', `/api/v1/users/${encodeURIComponent(request.params.id)}/single-sign-on`)
    if (!unlinked.ok) throw new ApiRefused(unlinked)
    return reply.redirect('/console/company?saved=1', 303)
  })

  app.post('/company/single-sign-on/address', async (request, reply) => {
    const { api: company } = visitOf(request)
    const { current } = await company.read<SingleSignOnView>(api)
    if (current === null) return reply.redirect(at, 303)
    const { code, signInUrl, linked, shared, wayIn, ...settings } = current
    const saved = await company.send('PUT', api, { ...settings, ...wayIn === null ? {} : { wayIn }, address: 'own' })
    if (!saved.ok) throw new ApiRefused(saved)
    return reply.redirect(`${at}?saved=1`, 303)
  })

  app.post('/company/single-sign-on/remove', { config: { confirms: ending } }, async (request, reply) => {
    const removed = await visitOf(request).api.send('DELETE', api)
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect(`${at}?saved=1`, 303)
  })
  done()
}

/** Asks before the provider signs a user in no more. */
async function unlinking (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api: ask } = visitOf(request)
  const { id, email } = await ask.read<UserView>(`/api/v1/users/${encodeURIComponent(request.params.id)}`)
  const { signOnUnlink: button, signOnUnlinkIntro } = words
  return { title: `${button}${words.colon}${email}`, says: [signOnUnlinkIntro], button, back: `/console/company/users/${String(id)}` }
}

/** Asks before single sign-on ends: how many users sign in by it. */
async function ending (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api: ask } = visitOf(request)
  const { current } = await ask.read<SingleSignOnView>(api)
  return {
    title: words.signOnRemove,
    says: [words.signOnRemoveIntro],
    touches: [[words.signOnIssuer, current?.issuer], [words.signOnLinkedUsers, current?.linked]],
    button: words.signOnRemove,
    back: at
  }
}

/** What a reader may do about it for themselves. */
export async function ownSingleSignOn ({ api: own, words: ofConsole, acting }: ConsoleVisit): Promise<Html> {
  const words = wordsOf(ofConsole)
  const { available, linked } = await own.read<MySingleSignOnView>('/api/v1/my/single-sign-on')
  if (!available) return html``
  const form = html`<p>${words.signOnLinkIntro}</p>
<form method="post" action="/console/sign-on/link"><div class="actions"><button class="second">${words.signOnLink}</button></div></form>`
  const unlinking = proofForm(words, {
    action: '/console/sign-on/unlink',
    id: 'unlink',
    label: words.signOnUnlink,
    intro: words.signOnUnlinkOwnIntro,
    tone: 'danger'
  })
  return html`<section aria-labelledby="sign-on"><h2 id="sign-on">${words.signOn}</h2>${
    linked || acting !== undefined ? html`<p>${linked ? words.signOnLinked : words.signOnLinkIntro}</p>` : form
  }${linked && acting === undefined ? unlinking : html``}</section>`
}

function settingsIn (body: URLSearchParams): object {
  const textOf = (name: string): string => (body.get(name) ?? '').trim()
  const isSet = (name: string): boolean => body.get(name) === 'true'
  const clientSecret = (secretIn(body, 'clientSecret') ?? '').trim()
  return {
    issuer: textOf('issuer'),
    clientId: textOf('clientId'),
    ...clientSecret === '' ? {} : { clientSecret },
    createsUsers: isSet('createsUsers'),
    defaultRole: textOf('defaultRole'),
    defaultServices: servicesIn(body),
    linksByEmail: isSet('linksByEmail'),
    trustsEmail: isSet('trustsEmail'),
    required: isSet('required')
  }
}

type Shown = { message?: Html, typed?: Typed | undefined, issuer?: string | undefined }

/** The redirect address belongs to the issuer: without one the page asks for it first. */
async function view (
  visit: Visit,
  { message = html``, typed, issuer = typed?.body.get('issuer') ?? undefined }: Shown
): Promise<Html> {
  const { words } = visit
  const requested = issuer !== undefined && issuer !== '' && issuer.length <= 500 ? { issuer } : {}
  const { redirectUri, current } = await visit.api.read<SingleSignOnView>(withQuery(api, requested))
  const settings = html`<section aria-labelledby="settings"><h2 id="settings">${words.settings}</h2>${
    said(words, typed, 'issuer', 'clientId', 'clientSecret', 'createsUsers', 'trustsEmail', 'linksByEmail', 'required')
  }${form(words, current, { typed, issuer })}</section>`
  const main = html`<p><a href="/console/company">${words.company}</a></p>${message}${
    requested.issuer === undefined || requested.issuer === current?.issuer ? moving(words, current) : html``
  }
<section aria-labelledby="about"><h2 id="about">${words.summary}</h2><p>${words.signOnAbout}</p>${
    facts(words, redirectUri, current, requested.issuer ?? current?.issuer)
  }${addressForm(words, current)}</section>${redirectUri === null && typed === undefined ? html`` : settings}${
    current === null ? html`` : removal(words)
  }`
  return page({ ...visit, path: at }, { title: words.signOn, section: 'company', main })
}

function facts (words: Words, redirectUri: string | null, current: Current | null, issuer: string | undefined): Html {
  if (redirectUri === null) return html``
  return html`<dl><dt>${words.signOnRedirect}</dt><dd>${
    copied(words, redirectUri, words.signOnRedirect)
  }</dd><dt>${words.signOnRedirectOf}</dt><dd>${issuer ?? ''}</dd>${
    current === null ? html`` : html`<dt>${words.signOnCode}</dt><dd>${copied(words, current.code, words.signOnCode)}</dd>
<dt>${words.signOnAddress}</dt><dd>${copied(words, current.signInUrl, words.signOnAddress)}</dd><dt>${words.signOnLinkedUsers}</dt><dd>${
      String(current.linked)
    }</dd>`
  }</dl>`
}

/** Asks for the issuer whose redirect address is shown. */
function addressForm (words: Words, current: Current | null): Html {
  return html`<form method="get" action="${at}">${
    textField({
      name: 'of',
      isSought: true,
      label: current === null ? words.signOnIssuer : words.signOnOtherIssuer,
      value: '',
      type: 'url',
      help: words.signOnRedirectHelp
    })
  }<div class="actions"><button class="second">${words.signOnShowRedirect}</button></div></form>`
}

/** Where the client is registered with the address that all companies shared. */
function moving (words: Words, current: Current | null): Html {
  const shared = current?.shared ?? null
  if (shared === null) return html``
  return notice('warn', html`<p>${words.signOnMoving}</p>
<dl><dt>${words.signOnSharedRedirect}</dt><dd>${shared.redirectUri}</dd><dt>${words.signOnSharedUntil}</dt><dd>${
    time(shared.until)
  }</dd></dl>
<form method="post" action="${at}/address"><div class="actions"><button>${words.signOnMoved}</button></div></form>`)
}

function form (words: Words, current: Current | null, { typed, issuer }: Pick<Shown, 'typed' | 'issuer'>): Html {
  const valueOf = (name: 'issuer' | 'clientId' | 'defaultRole', none: string): string => typed?.body.get(name) ?? current?.[name] ?? none
  const check = (name: 'createsUsers' | 'trustsEmail' | 'linksByEmail' | 'required', label: string, help: string): Html => {
    const checked = typed === undefined ? current?.[name] === true : typed.body.get(name) === 'true'
    return checkField({ name, label, help, checked, wrong: wrongOf(words, typed, `/${name}`) })
  }
  return html`<form method="post" action="${at}" novalidate>
${
    textField({
      name: 'issuer',
      label: words.signOnIssuer,
      value: issuer ?? valueOf('issuer', ''),
      type: 'url',
      help: words.signOnIssuerHelp,
      wrong: wrongOf(words, typed, '/issuer')
    })
  }${
    textField({ name: 'clientId', label: words.signOnClientId, value: valueOf('clientId', ''), wrong: wrongOf(words, typed, '/clientId') })
  }${
    textField({
      name: 'clientSecret',
      label: words.signOnClientSecret,
      type: 'password',
      ...current === null ? {} : { note: words.signOnSecretSet },
      wrong: wrongOf(words, typed, '/clientSecret')
    })
  }${check('createsUsers', words.signOnCreates, words.signOnCreatesHelp)}${
    check('trustsEmail', words.signOnTrusts, words.signOnTrustsHelp)
  }${
    radioField({
      name: 'defaultRole',
      label: words.signOnRole,
      value: valueOf('defaultRole', 'member'),
      options: optionsFor(words, 'rights', ['member', 'admin'])
    })
  }${servicesField(words, typed === undefined ? current?.defaultServices ?? [] : servicesIn(typed.body))}${
    check('linksByEmail', words.signOnByEmail, words.signOnByEmailHelp)
  }${check('required', words.signOnRequired, words.signOnRequiredHelp)}
<div class="actions"><button>${words.save}</button></div></form>`
}

function removal (words: Words): Html {
  return html`<section aria-labelledby="remove"><h2 id="remove">${words.signOnRemove}</h2><p>${words.signOnRemoveIntro}</p>
<form method="post" action="${at}/remove"><div class="actions"><button class="danger">${words.signOnRemove}</button></div></form></section>`
}
