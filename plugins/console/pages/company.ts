import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { secretIn } from '../form/body.ts'
import { checkField, linesField, textField } from '../form/fields.ts'
import { allowedServices, wordFor, type Words } from '../language/language.ts'
import { type LimitsView, type SettingsView, type UserView, withQuery } from '../session/api.ts'
import { partsAt, type Visit, visitOf } from '../session/visit.ts'
import { notice, page, table, time } from './layout.ts'
import { errorOf, said, type Typed, wrongOf } from './typed.ts'
import { roleAndServices, userIn } from './user.ts'

type Shown = { said?: Html, user?: Typed, settings?: Typed, cursor?: string }

/** The reader's company, for those who run it: its users, from where they may come, and when it is warned. */
export const companyPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/company', async (request, reply) => {
    const { saved, cursor } = request.query
    const visit = visitOf(request)
    const said = saved === undefined ? html`` : notice('good', html`<p>${visit.words.companySaved}</p>`)
    return reply.page(await view(visit, { said, cursor: typeof cursor === 'string' ? cursor : '' }))
  })

  app.post<{ Body: URLSearchParams }>('/company/users', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const created = await visit.api.send('POST', '/api/v1/users', { ...userIn(body), password: secretIn(body, 'password') ?? '' })
    if (created.ok) return reply.redirect('/console/company?saved=1#main', 303)
    return reply.code(created.status).page(await view(visit, { user: { body, error: errorOf(created) } }))
  })

  app.post<{ Body: URLSearchParams }>('/company', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const saved = await visit.api.send('PUT', '/api/v1/company', settingsIn(body))
    if (saved.ok) return reply.redirect('/console/company?saved=1#main', 303)
    return reply.code(saved.status).page(await view(visit, { settings: { body, error: errorOf(saved) } }))
  })
  done()
}

/** The limits are the service's: its operator sets them. */
function limitsSection (
  words: Words,
  { signInsPerMinute, dispatchesPerMinute, validationsPerMinute, requestsPerMinute }: LimitsView
): Html {
  const rows = [
    [words.limitDispatches, dispatchesPerMinute],
    [words.limitValidations, validationsPerMinute],
    [words.limitRequests, requestsPerMinute],
    [words.limitSignIns, signInsPerMinute]
  ] as const
  return html`<section aria-labelledby="limits"><h2 id="limits">${words.limits}</h2><p>${words.limitsIntro}</p>
<dl>${rows.map(([title, limit]) => html`<dt>${title}</dt><dd>${limit === null ? words.limitNone : String(limit)}</dd>`)}</dl></section>`
}

function settingsIn (body: URLSearchParams): object {
  const textOf = (name: string): string => (body.get(name) ?? '').trim()
  const lowCredit = textOf('lowCredit')
  return {
    addresses: textOf('addresses').split(/\s+/).filter((address) => address !== ''),
    notifyUrl: textOf('notifyUrl') === '' ? null : textOf('notifyUrl'),
    lowCredit: lowCredit === '' ? null : /^\d{1,15}$/.test(lowCredit) ? Number(lowCredit) : lowCredit,
    requireSecondFactor: body.get('requireSecondFactor') === 'true',
    force: body.get('force') === 'true'
  }
}

async function view (visit: Visit, { said = html``, user, settings, cursor = '' }: Shown): Promise<Html> {
  const { words, api, parts } = visit
  const [{ data, nextCursor }, stored, limits] = await Promise.all([
    api.read<{ data: UserView[], nextCursor: string | null }>(withQuery('/api/v1/users', { limit: '50', cursor })),
    api.read<SettingsView>('/api/v1/company'),
    api.read<LimitsView>('/api/v1/company/limits')
  ])
  const main = html`${said}<section aria-labelledby="users"><h2 id="users">${words.users}</h2>${userTable(words, data)}${
    nextCursor === null
      ? html``
      : html`<hr><p><a href="${withQuery('/console/company', { cursor: nextCursor })}" rel="next">${words.more}</a></p>`
  }${partsAt(parts, 'users').map((part) => part(words))}</section>${newUser(visit, user)}${settingsSection(words, stored, settings)}${
    limitsSection(words, limits)
  }${partsAt(parts, 'company').map((part) => part(words))}
<section aria-labelledby="audit"><h2 id="audit">${words.audit}</h2><p>${words.auditIntro}</p>
<p><a href="/console/audit">${words.auditShow}</a></p></section>`
  return page({ ...visit, path: '/console/company' }, { title: stored.name, section: 'company', main })
}

function userTable (words: Words, users: readonly UserView[]): Html {
  const rows = users.map(({ id, email, role, services, disabled, secondFactor, createdAt }) =>
    html`<tr><th scope="row"><a href="/console/company/users/${String(id)}">${email}</a>${
      disabled ? html` <span class="badge warn">${words.disabled}</span>` : html``
    }${secondFactor ? html` <span class="badge good">${words.factor}</span>` : html``}</th><td>${wordFor(words, 'role', role)}</td><td>${
      allowedServices(words, services)
    }</td><td>${time(createdAt)}</td></tr>\n`
  )
  return table(words.users, [words.email, words.role, words.services, words.created], rows)
}

function newUser ({ words, actor: { role } }: Visit, typed: Typed | undefined): Html {
  return html`<section aria-labelledby="new"><h2 id="new">${words.userNew}</h2>${said(words, typed, 'email', 'password')}
<form method="post" action="/console/company/users#new" novalidate>
${
    textField({
      name: 'email',
      label: words.email,
      type: 'email',
      value: typed?.body.get('email') ?? '',
      wrong: wrongOf(words, typed, '/email')
    })
  }
${
    textField({
      name: 'password',
      label: words.password,
      type: 'password',
      autocomplete: 'new-password',
      help: words.passwordHelp,
      wrong: wrongOf(words, typed, '/password')
    })
  }${roleAndServices(words, role, typed === undefined ? { role: 'member', services: ['*'] } : userIn(typed.body))}
<div class="actions"><button>${words.userCreate}</button></div></form></section>`
}

function settingsSection (
  words: Words,
  { addresses, notifyUrl, lowCredit, requireSecondFactor }: SettingsView,
  typed: Typed | undefined
): Html {
  const valueOf = (name: string, stored: string): string => typed?.body.get(name) ?? stored
  return html`<section aria-labelledby="settings"><h2 id="settings">${words.settings}</h2>${
    said(words, typed, 'addresses', 'lowCredit', 'notifyUrl')
  }
<form method="post" action="/console/company#settings" novalidate>
${
    linesField({
      name: 'addresses',
      label: words.addresses,
      help: words.addressesHelp,
      value: valueOf('addresses', addresses.join('\n')),
      wrong: wrongOf(words, typed, '/addresses')
    })
  }${
    typed === undefined ? html`` : checkField({ name: 'force', label: words.addressesForce, checked: typed.body.get('force') === 'true' })
  }${
    textField({
      name: 'lowCredit',
      label: words.lowCredit,
      help: words.lowCreditHelp,
      note: words.optional,
      value: valueOf('lowCredit', lowCredit === null ? '' : String(lowCredit)),
      wrong: wrongOf(words, typed, '/lowCredit')
    })
  }${
    textField({
      name: 'notifyUrl',
      label: words.notifyUrl,
      note: words.optional,
      type: 'url',
      value: valueOf('notifyUrl', notifyUrl ?? ''),
      wrong: wrongOf(words, typed, '/notifyUrl')
    })
  }${
    checkField({
      name: 'requireSecondFactor',
      label: words.factorRequire,
      help: words.factorRequireHelp,
      checked: typed === undefined ? requireSecondFactor : typed.body.get('requireSecondFactor') === 'true'
    })
  }<div class="actions"><button>${words.save}</button></div></form></section>`
}
