import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { secretIn } from '../form/body.ts'
import { radioField, textField } from '../form/fields.ts'
import { optionsFor, wordFor, type Words } from '../language/language.ts'
import { ApiRefused, type UserDetail, type UserView } from '../session/api.ts'
import { serviceNames } from '../session/services.ts'
import { partsAt, type Visit, visitOf } from '../session/visit.ts'
import { actSection } from './act.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import { notice, page, time } from './layout.ts'
import { said, type Typed, wrongOf } from './typed.ts'

type Posted = { Params: { id: string }, Body: URLSearchParams }
type Role = Visit['actor']['role']
type Entered = { role: string, services: readonly string[] }

/** A user of the reader's company: the role, the services, a new password, to disable. */
export const userPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Params: { id: string } }>('/company/users/:id',
    async (request, reply) => reply.page(await userPage(visitOf(request), request.params.id, html``)))

  const changes = {
    rights: (body: URLSearchParams) => userIn(body),
    password: (body: URLSearchParams) => ({
      password: secretIn(body, 'password') ?? '',
      ...(body.get('current') ?? '') !== '' && { current: secretIn(body, 'current') }
    }),
    disabled: (body: URLSearchParams) => ({ disabled: body.get('disabled') === 'true' })
  }
  app.post<Posted>('/company/users/:id/second-factor', { config: { confirms: factorReset } }, async (request, reply) => {
    const [visit, { params: { id } }] = [visitOf(request), request]
    const reset = await visit.api.send('DELETE', `/api/v1/users/${encodeURIComponent(id)}/second-factor`)
    if (!reset.ok && reset.status !== 409) throw new ApiRefused(reset)
    return reply.redirect('/console/company?saved=1', 303)
  })

  app.post<Posted>('/company/users/:id/reset', { config: { confirms: endOfWays } }, async (request, reply) => {
    const [visit, { params: { id } }] = [visitOf(request), request]
    const reset = await visit.api.send('POST', `/api/v1/users/${encodeURIComponent(id)}/reset`)
    if (!reset.ok) throw new ApiRefused(reset)
    return reply.page(await userPage(visit, id, notice('good', html`<p>${visit.words.resetDone}</p>`)))
  })

  for (const [name, bodyOf] of Object.entries(changes)) {
    app.post<Posted>(`/company/users/:id/${name}`, async (request, reply) => {
      const { params: { id }, body } = request
      const visit = visitOf(request)
      const changed = await visit.api.send('PUT', `/api/v1/users/${encodeURIComponent(id)}`, bodyOf(body))
      if (changed.ok) return reply.redirect('/console/company?saved=1', 303)
      if (changed.status === 404 || visit.actor.role === 'member') throw new ApiRefused(changed)
      return reply.code(changed.status).page(await userPage(visit, id, html``, { body, error: changed.error }))
    })
  }
  done()
}

async function factorReset (request: ConfirmRequest): Promise<Confirmation> {
  const { words } = visitOf(request)
  const { factorReset: button, factorResetIntro } = words
  return await requested(request, { button, says: [factorResetIntro] }, ({ factors, sessions }) => [
    [words.factorsSetUp, factors],
    [words.sessions, sessions]
  ])
}

async function endOfWays (request: ConfirmRequest): Promise<Confirmation> {
  const { words } = visitOf(request)
  const { resetNow: button, resetAsk } = words
  return await requested(request, { button, says: [resetAsk] }, ({ factors, sessions, keys }) => [
    [words.sessions, sessions],
    [words.keys, keys],
    [words.factorsSetUp, factors]
  ])
}

/** What an older version of the API would tell. */
const noWays = { sessions: 0, keys: 0, factors: 0 }

/** `touches`: what of the user's ways in ends. */
async function requested (
  request: ConfirmRequest,
  { button, says }: Pick<Confirmation, 'button' | 'says'>,
  touches: (ways: NonNullable<UserDetail['ways']>) => Confirmation['touches']
): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const { id, email, ways = noWays } = await api.read<UserDetail>(`/api/v1/users/${encodeURIComponent(request.params.id)}`)
  return {
    title: `${button}${words.colon}${email}`,
    says,
    touches: touches(ways) ?? [],
    button,
    back: `/console/company/users/${String(id)}`
  }
}

/** What a form says of a user: the address, the role, the services. */
export function userIn (body: URLSearchParams): Entered & { email: string } {
  return { email: (body.get('email') ?? '').trim(), role: body.get('role') ?? '', services: servicesIn(body) }
}

/** The fields for what a user may do. Nobody gives a role above their own. */
export function roleAndServices (words: Words, own: Role, { role, services: chosen }: Entered): Html {
  const roles = ['member', 'admin', ...own === 'operator' ? ['operator'] : []]
  return html`${
    radioField({
      name: 'role',
      label: words.role,
      value: role,
      options: optionsFor(words, 'rights', roles)
    })
  }${servicesField(words, chosen)}`
}

/**
 * Which services somebody may use; `*` among those that are chosen: all of them, and the others are out of sight. `offered`: out of
 * which they are chosen.
 */
export function servicesField (words: Words, chosen: readonly string[], { offered = ['*'], help }: {
  offered?: readonly string[]
  help?: string
} = {}): Html {
  const box = (id: string, name: string, value: string, label: string, checked: boolean): Html =>
    html`<div class="choice"><input type="checkbox" id="${id}" name="${name}" value="${value}"${
      checked ? html` checked` : html``
    }><label for="${id}">${label}</label></div>`
  const shown = offered.includes('*') ? serviceNames : offered
  return html`<fieldset class="all-or-some"><legend>${words.services}</legend>${
    help === undefined ? html`` : html`<p class="help">${help}</p>`
  }${box('s-all', 'allServices', 'true', words.allServices, chosen.includes('*'))}${
    shown.map((name) => box(`s-${name}`, 'service', name, wordFor(words, 'service', name), chosen.includes(name)))
  }</fieldset>`
}

/** The services that a form with {@link servicesField} has chosen. */
export function servicesIn (body: URLSearchParams): string[] {
  return body.get('allServices') === 'true' ? ['*'] : body.getAll('service')
}

/** The fields for another password. Whose it is proves that by the present one. */
export function passwordFields (words: Words, typed: Typed | undefined, isSelf: boolean): Html {
  const field = (name: 'current' | 'password', label: string, autocomplete: string, help?: string): Html =>
    textField({ name, label, type: 'password', autocomplete, help, wrong: wrongOf(words, typed, `/${name}`) })
  return html`${isSelf ? field('current', words.passwordNow, 'current-password') : html``}${
    field('password', words.passwordNew, 'new-password', words.passwordHelp)
  }`
}

/** For a user who has lost the second factor. */
function factorSection (words: Words, at: string): Html {
  return html`<section aria-labelledby="factor"><h2 id="factor">${words.factor}</h2><p>${words.factorResetIntro}</p>
<form method="post" action="${at}/second-factor"><div class="actions"><button class="danger">${words.factorReset}</button></div></form>
</section>
`
}

/** For a user whom somebody else has got into. */
function resetSection (words: Words, at: string): Html {
  return html`<section aria-labelledby="reset"><h2 id="reset">${words.reset}</h2><p>${words.resetIntro}</p>
<form method="post" action="${at}/reset"><div class="actions"><button class="danger">${words.resetNow}</button></div></form></section>
`
}

/** Nobody disables themselves: they would be refused at once. */
function disabling (words: Words, at: string, isDisabled: boolean): Html {
  const label = isDisabled ? words.userEnable : words.userDisable
  return html`<section aria-labelledby="disable"><h2 id="disable">${label}</h2>
<p>${isDisabled ? words.userEnableIntro : words.userDisableIntro}</p>
<form method="post" action="${at}/disabled"><input type="hidden" name="disabled" value="${isDisabled ? 'false' : 'true'}">
<div class="actions"><button class="${isDisabled ? 'second' : 'danger'}">${label}</button></div></form></section>
`
}

/** The page of a user of the reader's company. `message`: what is said first. */
export async function userPage (visit: Visit, id: string, message: Html, typed?: Typed): Promise<Html> {
  const { words, api, actor, parts } = visit
  const path = `/api/v1/users/${encodeURIComponent(id)}`
  const user = await api.read<UserView>(path)
  const at = `/console/company/users/${String(user.id)}`
  const isSelf = user.id === actor.userId
  const main = html`<p><a href="/console/company">${words.users}</a></p>${message}${
    said(words, typed, 'password', 'current')
  }<section aria-labelledby="rights"><h2 id="rights">${words.rights}${
    user.disabled ? html` <span class="badge warn">${words.disabled}</span>` : html``
  }</h2><p class="quiet">${words.created}${words.colon}${time(user.createdAt)}</p>
<form method="post" action="${at}/rights"><input type="hidden" name="email" value="${user.email}">${
    roleAndServices(words, actor.role, user)
  }
<div class="actions"><button>${words.save}</button></div></form></section>
<section aria-labelledby="password"><h2 id="password">${words.passwordNew}</h2><p>${words.passwordNewIntro}</p>
<form method="post" action="${at}/password" novalidate>${passwordFields(words, typed, isSelf)}
<div class="actions"><button class="second">${words.passwordSet}</button></div></form></section>
${await Promise.all(partsAt(parts, 'userPassword').map((part) => part(visit, user)))}${
    user.secondFactor && !isSelf ? factorSection(words, at) : html``
  }${await Promise.all(partsAt(parts, 'userFactor').map((part) => part(visit, user)))}${actSection(visit, user)}${
    isSelf ? html`` : resetSection(words, at)
  }${isSelf ? html`` : disabling(words, at, user.disabled)}`
  return page({ ...visit, path: at }, { title: user.email, section: 'company', main })
}
