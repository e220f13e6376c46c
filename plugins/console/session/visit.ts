import type { Actor, Sessions, Visitor } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import type { CompanyView, ConfigurationView, UserView } from '@dispatch/contract'
import type { FastifyInstance, FastifyPluginAsync, FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { admitRecognised } from '../../hooks/admission-control.ts'
import type { Html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import { type Api, apiFor, withQuery } from './api.ts'
import { readCookie } from './cookies.ts'
import { isLost, keptFormIn, type Marks, marksOf } from './kept-form.ts'
import { languageOf } from './language.ts'
import { type Mode, modeOf } from './mode.ts'
import { prove, takeProof } from './proof.ts'

/** A text in the languages of the console. */
export type Text = { readonly en: string, readonly fr: string }

/**
 * An entry of the console's menu. `after`: the section behind which it stands, or the group at whose end (menu.ts). `roles`: who sees it;
 * everybody unless told.
 */
export type MenuEntry = {
  readonly section: string
  readonly path: string
  readonly label: Text
  readonly after?: string
  readonly roles?: readonly string[]
}

/** A part of the page of a provider: empty where there is nothing to say of this configuration. */
export type ProviderSection = (visit: Visit, configuration: ConfigurationView) => Html

/** What the form of a request can be filled with. Parties have the names that data of templates have: `name`, `email`, `city` … */
export type Fills = {
  /** Who the company of the reader is, and its bank account. */
  own: (visit: Visit) => Promise<{ party: JsonObject, account: JsonObject }>
  /** Those with a text in their name, 50 at most; all of them for none. */
  recipients: (visit: Visit, q: string) => Promise<readonly (JsonObject & { name: string })[]>
  /** Where these are kept. */
  page: string
}

/** Something that was found by a text. `kind`: what its like are called. `about`: more of it. */
export type Found = { kind: string, title: string, path: string, about?: string | Html }

/** What features add to pages that are not theirs, by its place there. */
export type PageParts = {
  /**
   * Links beside the button of the sign-in. `beside`: the page holds a form that its reader has sent after their session had ended, and
   * stays open: what leads away from it opens beside it.
   */
  readonly signInLinks?: (words: Words, beside: boolean) => Html
  /** Another way to sign in, below the password; it leads to `next`. */
  readonly signInForms?: (words: Words, next: string, beside: boolean) => Html
  /** What it has by a text, for the search of the console: the best first. */
  readonly finds?: (visit: Visit, q: string) => Promise<readonly Found[]>
  /** In the form of a request. */
  readonly fills?: Fills
  /** On the first page, after the last day. */
  readonly home?: (visit: Visit) => Promise<Html>
  /** On the account of the reader, after the password. */
  readonly account?: (visit: Visit) => Promise<Html>
  /** Below the API keys. */
  readonly keys?: (words: Words) => Html
  /** Below the users of the reader's company. */
  readonly users?: (words: Words) => Html
  /** On the page of the reader's company, before the audit log. */
  readonly company?: (words: Words) => Html
  /** On the page of any company, for operators. */
  readonly platformCompany?: (words: Words, company: CompanyView) => Html
  /** On the page of a user of the reader's company, after the password. */
  readonly userPassword?: (visit: Visit, user: UserView) => Promise<Html>
  /** On the same page, after the second factor. */
  readonly userFactor?: (visit: Visit, user: UserView) => Promise<Html>
}

/** What features add to the console. */
export type ConsoleParts = {
  /** Routes that begin sessions. */
  sessions: readonly { plugin: FastifyPluginAsync<object> | FastifyPluginCallback<object>, options: object }[]
  pages: readonly (FastifyPluginAsync | FastifyPluginCallback)[]
  menu: readonly MenuEntry[]
  audit: Readonly<Record<string, Text>>
  providerSections: readonly ProviderSection[]
  pageParts: readonly PageParts[]
}

/** What a page knows of its reader. */
export type Visit = {
  actor: Actor
  api: Api
  words: Words
  /** The path of the page with its query. */
  path: string
  /** The columns that the browser has kept, of all lists. */
  columns: string
  /** Whether it is about what is sent for real, or about tests. */
  mode: Mode
  /** What features add to pages. */
  parts: ConsoleParts
  /** By the clock of the database, by which what is scheduled is due. */
  now: Date
  /** Marks the forms that outlive the session. */
  marks: Marks
  /** Who has signed in, and until when they act as `actor`; absent where they are the same. */
  acting?: { own: Actor, until: Date }
}

const visiting = Symbol('visit')
const consoleParts = Symbol('parts')
const visitorOf = Symbol('visitor')

declare module 'fastify' {
  interface FastifyInstance {
    [consoleParts]: ConsoleParts
  }
  interface FastifyRequest {
    [visiting]: Visit | null
    [visitorOf]: Visitor | null
  }
  interface FastifyContextConfig {
    /** A page of the console that needs no session. */
    withoutSession?: boolean
  }
}

/** The visit of a page that needs a session. */
export function visitOf (request: FastifyRequest): Visit {
  const visit = request[visiting]
  if (visit === null) throw new TypeError(`${request.url} has no session.`)
  return visit
}

/** What features add to the console, also for pages that need no session. */
export function partsOf ({ server }: FastifyRequest): ConsoleParts {
  return server[consoleParts]
}

/** What features add at a place of a page. */
export function partsAt<Place extends keyof PageParts> ({ pageParts }: ConsoleParts, place: Place): NonNullable<PageParts[Place]>[] {
  return pageParts.flatMap((parts) => parts[place] ?? [])
}

/** Who has signed in, as whomever they act. */
export function ownOf (request: FastifyRequest): Actor {
  const { actor, acting } = visitOf(request)
  return acting?.own ?? actor
}

/** The same for pages of a feature: `wordsOf` adds its words to those of the console. */
export function visitWith<OwnWords> (wordsOf: (words: Words) => OwnWords) {
  return (request: FastifyRequest): Omit<Visit, 'words'> & { words: OwnWords } => {
    const visit = visitOf(request)
    return { ...visit, words: wordsOf(visit.words) }
  }
}

/** The reader, where there is a session; pages that need none have no visit. */
export function knownVisit (request: FastifyRequest): Visit | null {
  return request[visiting]
}

type Needs = { parts: ConsoleParts, databaseTime: () => Promise<Date> }

/**
 * Pages need a session, but those with `withoutSession`: without one a page that shows leads to the sign-in and back. The session is looked
 * up first, as the credentials of a request to the API are: whoever has one does not wait among anonymous clients, and what the page asks
 * the API for takes the permits of the company. What changes something looks it up again once the body is here, which may take minutes, in
 * which the session may have ended. A person who lacks the second factor that the company demands is led to set one up.
 */
export function requireSessions (app: FastifyInstance, sessions: Sessions, { parts, databaseTime }: Needs): void {
  app.decorate(consoleParts, parts)
  app.decorateRequest(visiting, null)
  app.decorateRequest(visitorOf, null)
  const visitorNow = async (request: FastifyRequest): Promise<Visitor | null> =>
    await sessions.visitorOf(readCookie(request, 'session') ?? '', request.ip) ?? null
  app.addHook('onRequest', (request, _reply, next) => {
    next(isOwn(request) ? undefined : new ForeignForm())
  })
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.withoutSession === true) return
    const visitor = request[visitorOf] = await visitorNow(request)
    if (visitor !== null) admitRecognised(request, visitor.actor.companyId)
  })
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.withoutSession === true) return
    const visitor = changesNothing(request) ? request[visitorOf] : await visitorNow(request)
    if (visitor === null) return toSignIn(request, reply)
    if (visitor.actor.lacksSecondFactor === true && request.routeOptions.config.enrolment !== true) return toSecondFactor(request, reply)
    const { own, actor, acting } = visitor
    const visit = {
      actor,
      api: apiFor(request, actor),
      words: languageOf(request),
      path: request.url,
      columns: readCookie(request, 'columns') ?? '',
      mode: modeOf(request),
      parts,
      now: await databaseTime(),
      marks: marksOf(request)
    }
    request[visiting] = { ...visit, ...acting?.over === false && { acting: { own, until: acting.until } } }
    if (acting?.over === true) await sessions.stopActing(own)
    if (acting?.over === true || !isMadeFor(request)) throw new OtherIdentity()
    const proof = takeProof(request, sessions.offered())
    if (proof !== undefined) request[visiting] = provedAt(request, await prove(sessions, request, own, proof))
  })
}

/** The visit of a reader who has just proved who they are. */
function provedAt (request: FastifyRequest, time: Date): Visit {
  const visit = visitOf(request)
  const actor = { ...visit.actor, provedAt: time }
  return { ...visit, actor, api: apiFor(request, actor) }
}

/** A page or a form for somebody as whom the reader does not act any more. */
export class OtherIdentity extends Error {
  override name = 'OtherIdentity'
}

/** The hidden field that says as whom the sender of a form acts. A form with a file says it in its address, which is read first. */
const identity = ':as'

const asWhom = (visit: Visit | null): string => visit?.acting === undefined ? '' : String(visit.actor.userId)

/**
 * Has every form of a page name the user as whom the reader acts. What was filled in for one is not sent for another, where the
 * impersonation has begun or ended meanwhile in another tab.
 */
export function nameIdentity (request: FastifyRequest, markup: string): string {
  const name = asWhom(request[visiting])
  if (name === '') return markup
  return markup
    .replaceAll(/<form method="post" action="[^"]*"[^>]* enctype=[^]*?<\/form>/g,
      (form) =>
        form.replaceAll(/ (?:form)?action="[^"]*/g, (address) => `${address}${address.includes('?') ? '&amp;' : '?'}${identity}=${name}`))
    .replaceAll(/<form method="post" action="[^"]*"(?![^>]* enctype=)[^>]*>/g, `$&<input type="hidden" name="${identity}" value="${name}">`)
}

function isMadeFor (request: FastifyRequest): boolean {
  const { body, headers, query } = request
  if (headers['content-type']?.startsWith('multipart/form-data') === true) {
    return ((query as Readonly<Record<string, unknown>>)[identity] ?? '') === asWhom(request[visiting])
  }
  if (!(body instanceof URLSearchParams)) return true
  const named = body.get(identity) ?? ''
  body.delete(identity)
  return named === asWhom(request[visiting])
}

/** A form that no page of the console has sent. */
export class ForeignForm extends Error {
  override name = 'ForeignForm'
}

/**
 * Whether a request that changes something comes from a page of this very origin: by Fetch Metadata, or by `Origin` where a browser does
 * not send that (OWASP, Cross-Site Request Forgery Prevention).
 */
function isOwn (request: FastifyRequest): boolean {
  if (changesNothing(request)) return true
  const { headers, host } = request
  const { 'sec-fetch-site': site, origin } = headers
  return site === undefined ? origin === `https://${host}` || origin === `http://${host}` : site === 'same-origin'
}

function changesNothing ({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The page that a form goes on with: one that shows it again, which it names. */
function pageOf ({ method, url, body }: FastifyRequest): string | undefined {
  const page = method === 'GET' ? url : body instanceof URLSearchParams ? body.get(':back') : null
  return page === null || page === '/console' ? undefined : page
}

/** To the sign-in, and back to the page. A form that outlives its session is carried along. */
function toSignIn (request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const next = pageOf(request)
  if (keptFormIn(request) !== undefined) return reply.redirect(withQuery('/console/sign-in-again', { next }), 307)
  return reply.redirect(withQuery('/console/sign-in', { next, lost: isLost(request) ? '1' : undefined }), 303)
}

/** To the page where a second factor is set up. A form that outlives its session waits for that, where the sign-in shows it. */
function toSecondFactor (request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (keptFormIn(request) !== undefined) return reply.redirect(withQuery('/console/sign-in-again', { next: pageOf(request) }), 307)
  return reply.redirect(isLost(request) ? '/console/kept?lost=1' : '/console/second-factor', 303)
}
