import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { secretIn } from '../form/body.ts'
import { fill, type Words } from '../language/language.ts'
import { type Api, ApiRefused, noticeText, type NoticeView, type SessionView } from '../session/api.ts'
import { partsAt, type Visit, visitOf } from '../session/visit.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import { page, table, time } from './layout.ts'
import { said, type Typed } from './typed.ts'
import { passwordFields } from './user.ts'

const at = '/console/sessions'

/** The account of the reader: where they are signed in, and how. */
export const sessionsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get('/sessions', async (request, reply) => {
    return reply.page(await view(visitOf(request)))
  })

  app.post<{ Params: { id: string } }>('/sessions/:id/end', { config: { confirms: 'undone' } }, async (request, reply) => {
    const ended = await visitOf(request).api.send('DELETE', `/api/v1/my/sessions/${encodeURIComponent(request.params.id)}`)
    if (!ended.ok) throw new ApiRefused(ended)
    return reply.redirect(at, 303)
  })

  app.post('/sessions/end-others', { config: { confirms: endings } }, async (request, reply) => {
    const { api } = visitOf(request)
    const sessions = await sessionsOf(api)
    for (const { id, current } of hasCurrent(sessions) ? sessions : []) {
      const ended = current ? undefined : await api.send('DELETE', `/api/v1/my/sessions/${encodeURIComponent(id)}`)
      // One that has ended meanwhile is not missed.
      if (ended?.ok === false && ended.status !== 404) throw new ApiRefused(ended)
    }
    return reply.redirect(at, 303)
  })

  app.post<{ Body: URLSearchParams }>('/sessions/password', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const entered = { current: secretIn(body, 'current') ?? '', password: secretIn(body, 'password') ?? '' }
    const changed = await visit.api.send('PUT', '/api/v1/my/password', entered)
    if (changed.ok) return reply.redirect('/console/sign-in?changed=1#main', 303)
    return reply.code(changed.status).page(await view(visit, { body, error: changed.error }))
  })
  done()
}

/** Asks before all other sessions end. */
async function endings (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const sessions = await sessionsOf(api)
  return {
    title: words.sessionEndOthers,
    says: [words.sessionEndOthersIntro],
    touches: [[words.sessions, hasCurrent(sessions) ? sessions.length - 1 : 0]],
    button: words.sessionEndOthers,
    back: at
  }
}

async function sessionsOf (api: Api): Promise<SessionView[]> {
  return (await api.read<{ data: SessionView[] }>('/api/v1/my/sessions')).data
}

/** Whoever acts as somebody else has none of their sessions: all of them would be others. */
function hasCurrent (sessions: readonly SessionView[]): boolean {
  return sessions.some(({ current }) => current)
}

async function view (visit: Visit, typed?: Typed): Promise<Html> {
  const { words, api, acting, parts } = visit
  const [sessions, { data: notices }] = [await sessionsOf(api), await api.read<{ data: NoticeView[] }>('/api/v1/my/notices')]
  return page({ ...visit, path: at }, {
    title: words.account,
    section: 'sessions',
    main: html`<section aria-labelledby="sessions"><h2 id="sessions">${words.sessions}</h2><p>${words.sessionsIntro}</p>${
      sessionTable(words, sessions)
    }${sessions.length > 1 && hasCurrent(sessions) ? endOthers(words) : html``}</section>
<section aria-labelledby="factor"><h2 id="factor">${words.factor}</h2><p>${words.factorIntro}</p>
<p><a href="/console/second-factor">${words.factorManage}</a></p></section>${
      acting === undefined ? passwordSection(words, typed) : html``
    }${await Promise.all(partsAt(parts, 'account').map((part) => part(visit)))}${noticesSection(words, notices)}`
  })
}

/** What was changed of the reader's way in, so that nobody else does so unseen. */
function noticesSection (words: Words, notices: readonly NoticeView[]): Html {
  const rows = notices.map(({ action, own, address, at }) =>
    html`<tr><td>${noticeText(action, words.code)}</td><td>${own ? address ?? words.noticeBySelf : words.noticeByOther}</td><td>${
      time(at)
    }</td></tr>\n`
  )
  return html`<section aria-labelledby="notices"><h2 id="notices">${words.notices}</h2><p>${words.noticesIntro}</p>${
    rows.length === 0 ? html`<p>${words.noticesNone}</p>` : table(words.notices, [words.noticeWhat, words.noticeFrom, words.created], rows)
  }</section>`
}

function endOthers (words: Words): Html {
  return html`<hr><form method="post" action="${at}/end-others"><button class="second">${words.sessionEndOthers}</button></form>`
}

function passwordSection (words: Words, typed: Typed | undefined): Html {
  return html`<section aria-labelledby="password"><h2 id="password">${words.password}</h2><p>${words.passwordOwnIntro}</p>${
    said(words, typed, 'current', 'password')
  }<form method="post" action="${at}/password#password" novalidate>${passwordFields(words, typed, true)}
<div class="actions"><button class="second">${words.passwordSet}</button></div></form></section>`
}

function sessionTable (words: Words, sessions: readonly SessionView[]): Html {
  const rows = sessions.map(({ id, browser, address, createdAt, usedAt, current }) =>
    html`<tr><td>${
      browser === '' ? words.unnamedBrowser : html`<span title="${browser}">${browserIn(browser)}</span>`
    }</td><td>${address}</td><td>${time(createdAt)}</td><td>${time(usedAt)}</td>
<td>${
      current
        ? html`<span class="badge good">${words.sessionCurrent}</span>`
        : html`<form method="post" action="/console/sessions/${id}/end"><button class="second" aria-label="${
          fill(words.sessionEndFull, { date: createdAt.slice(0, 16).replace('T', ' ') })
        }">${words.sessionEnd}</button></form>`
    }</td></tr>\n`
  )
  const { sessionBrowser, sessionAddress, sessionBegan, sessionUsed, status } = words
  return table(words.sessions, [sessionBrowser, sessionAddress, sessionBegan, sessionUsed, status], rows)
}

/** What browsers and systems call themselves in a User-Agent; the first that fits, as Edge also says Chrome, and Chrome also Safari. */
const browsers = [[/Edg\w*\/(\d+)/, 'Edge'], [/OPR\/(\d+)/, 'Opera'], [/Firefox\/(\d+)/, 'Firefox'], [/Chrome\/(\d+)/, 'Chrome'], [
  /Version\/(\d+).* Safari/,
  'Safari'
]] as const
const systems = [[/Windows/, 'Windows'], [/iPhone|iPad/, 'iOS'], [/Mac OS X/, 'macOS'], [/Android/, 'Android'], [/Linux/, 'Linux']] as const

/** A browser by its name and version, and its system; what is not known as it calls itself. */
function browserIn (agent: string): string {
  const browser = browsers.flatMap(([form, name]) => {
    const version = form.exec(agent)?.[1]
    return version === undefined ? [] : [`${name} ${version}`]
  })[0]
  const system = systems.find(([form]) => form.test(agent))?.[1]
  return browser === undefined ? agent : [browser, system].filter((part) => part !== undefined).join(' · ')
}
