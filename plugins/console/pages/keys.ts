import { type Html, html } from '../../html.ts'
import { choiceField, manyField, textField } from '../form/fields.ts'
import { allowedServices, fill, optionsFor, wordFor, type Words } from '../language/language.ts'
import { type KeyView, type NewKeyView, scopesWithin, type UserView } from '../session/api.ts'
import type { Mode } from '../session/mode.ts'
import type { Visit } from '../session/visit.ts'
import { copied, notice, page, table, time } from './layout.ts'
import { picks, picksForm } from './many.ts'
import { said, type Typed, wrongOf } from './typed.ts'
import { servicesField, servicesIn } from './user.ts'

/** The API keys that the reader may see, each with a form that revokes it. */
export function keyTable (visit: Visit, keys: readonly KeyView[], users: readonly UserView[]): Html {
  const { words } = visit
  if (keys.length === 0) return html`<p>${words.keysNone}</p>`
  const { title, cell } = picks(words, 'keys-chosen', ({ id, name }: KeyView) => ({ id, name }))
  const rows = keys.map((key) =>
    html`<tr><td class="pick">${
      cell(key)
    }</td><th scope="row">${key.name}<div class="quiet"><code>${key.prefix}…${key.last4}</code></div></th><td>${
      allowedServices(words, key.services)
    }<div class="quiet">${scopesOf(words, key.scopes)}</div></td><td>${userOf(visit, key.userId, users)}</td><td>${
      time(key.createdAt)
    }</td><td>${key.lastUsedAt === null ? words.keyUsedNever : time(key.lastUsedAt)}</td><td>${
      key.expiresAt === null ? words.keyExpiresNever : time(key.expiresAt)
    }</td><td>${revokeForm(words, key)}</td></tr>\n`
  )
  const head = [title, words.name, words.services, words.keyUser, words.created, words.keyUsed, words.keyExpires, words.action]
  return html`${table(words.keys, head, rows)}${
    picksForm(words, 'keys-chosen', { action: '/console/developers/keys/chosen/revoke', label: words.keysRevoke })
  }`
}

/** What a key may be used for, in words; one that may be used for all that its user may do, as those of older releases, stands out. */
function scopesOf (words: Words, scopes: KeyView['scopes']): Html {
  return isWide(scopes)
    ? html`<span class="badge warn">${words.keyWide}</span>`
    : html`${scopes.map((scope) => wordFor(words, 'scope', scope)).join(', ')}`
}

/** A key that sends proposes nothing. */
function isWide (scopes: KeyView['scopes']): boolean {
  return scopesWithin({ role: 'operator', mode: 'live' }).every((scope) => scope === 'propose' || scopes.includes(scope))
}

function userOf ({ words, actor }: Visit, id: number, users: readonly UserView[]): string {
  if (id === actor.userId) return actor.email
  return users.find((user) => user.id === id)?.email ?? fill(words.userOfNumber, { id })
}

function revokeForm (words: Words, { id, name }: KeyView): Html {
  return html`<form method="post" action="/console/developers/keys/${id}"><button class="danger" aria-label="${
    fill(words.keyRevokeFull, { name })
  }">${words.keyRevoke}</button></form>`
}

/** A form that was refused, or whose key was made `already`. */
type KeyForm = { typed?: Typed | undefined, already?: Html | undefined }

/** The form for a new key. `newest` is the newest key when it is shown: {@link madeBy} knows by it what the form has made. */
export function keyForm (
  { words, actor, mode }: Visit,
  newest: string,
  users: readonly UserView[],
  { typed, already = html`` }: KeyForm
): Html {
  const valueOf = (name: string): string => typed?.body.get(name) ?? ''
  const others = users.filter(({ id, disabled }) => id !== actor.userId && !disabled)
  return html`<section aria-labelledby="new"><h2 id="new">${words.keyNew}</h2>${already}${
    said(words, typed, 'name', 'scopes', 'userId', 'expiresAt')
  }
<form method="post" action="/console/developers/keys#new" novalidate><input type="hidden" name="newest" value="${newest}">
<p>${words.keyMode}${words.colon}${words[`mode_${mode}`]}</p>${
    textField({ name: 'name', label: words.name, help: words.keyNameHelp, value: valueOf('name'), wrong: wrongOf(words, typed, '/name') })
  }
${
    others.length === 0 ? html`` : choiceField({
      name: 'userId',
      label: words.keyUser,
      value: valueOf('userId'),
      none: words.keyUserSelf,
      options: others.map(({ id, email }) => ({ value: String(id), label: email })),
      wrong: wrongOf(words, typed, '/userId')
    })
  }${
    termFields({ words, actor }, typed, {
      scopes: { label: words.keyScopes, help: words.keyScopesHelp, values: ['send', 'read_own'], offered: mode, chosen: mode },
      expiresAt: ''
    })
  }<div class="actions"><button>${words.keyMake}</button></div></form></section>`
}

/**
 * The terms of a key before a person has typed any: what it may do, of what a key of the mode `offered` can and one of the mode that is
 * `chosen` at first, and its last day (`YYYY-MM-DD`, or '' for none).
 */
type Terms = { scopes: { label: string, help: string, values: readonly string[], offered: Mode, chosen: Mode }, expiresAt: string }

/** The fields of what a key may do, for which services and until when. */
export function termFields (
  { words, actor }: Pick<Visit, 'words' | 'actor'>,
  typed: Typed | undefined,
  { scopes: { label, help, values, offered, chosen }, expiresAt }: Terms
): Html {
  const within = (mode: Mode): readonly string[] => scopesWithin({ role: actor.role, mode })
  return html`${
    manyField({
      name: 'scope',
      label,
      help,
      values: typed === undefined ? values.filter((scope) => within(chosen).includes(scope)) : typed.body.getAll('scope'),
      options: optionsFor(words, 'scope', within(offered)),
      wrong: wrongOf(words, typed, '/scopes')
    })
  }${servicesField(words, typed === undefined ? ['*'] : servicesIn(typed.body), { offered: actor.services, help: words.keyServicesHelp })}${
    textField({
      name: 'expiresAt',
      label: words.keyExpires,
      note: words.optional,
      type: 'date',
      help: words.keyExpiresHelp,
      value: typed?.body.get('expiresAt') ?? expiresAt,
      wrong: wrongOf(words, typed, '/expiresAt')
    })
  }`
}

/** What these fields say. A day is meant whole. */
export function termsIn (body: URLSearchParams): { scopes: string[], services?: string[], expiresAt?: string } {
  const [expiresAt, services] = [(body.get('expiresAt') ?? '').trim(), servicesIn(body)]
  return {
    scopes: body.getAll('scope'),
    ...services.includes('*') ? {} : { services },
    ...expiresAt === '' ? {} : { expiresAt: /^\d{4}-\d\d-\d\d$/.test(expiresAt) ? `${expiresAt}T23:59:59Z` : expiresAt }
  }
}

/** What the form for a new key says, which is of the mode of its page. */
export function keyIn (
  body: URLSearchParams,
  mode: Mode
): ReturnType<typeof termsIn> & { name: string, mode: string, userId?: string | number } {
  const userId = (body.get('userId') ?? '').trim()
  return {
    name: (body.get('name') ?? '').trim(),
    mode,
    ...termsIn(body),
    ...userId === '' ? {} : { userId: /^\d{1,10}$/.test(userId) ? Number(userId) : userId }
  }
}

/**
 * The key that a form has made already, among those of its user: one of the same name that is newer than the newest of that time. Ids of
 * keys grow with time. A key is shown once, so a form that is sent again must not make another, in whichever process.
 */
export function madeBy (body: URLSearchParams, name: string, keys: readonly KeyView[]): KeyView | undefined {
  const newest = body.get('newest') ?? ''
  return keys.find((key) => key.name === name && key.id > newest)
}

/** The page that shows a new key, once. */
export function madePage (visit: Visit, { key, name }: NewKeyView): Html {
  const { words } = visit
  const main = html`${notice('good', html`<p>${words.keyMade}</p>`)}<section aria-label="${words.keyNew}"><p>${name}</p>
<p>${copied(words, key)}</p></section><p><a href="/console/developers">${words.developersBack}</a></p>`
  return page({ ...visit, path: '/console/developers' }, { title: words.keyNew, section: 'developers', main })
}
