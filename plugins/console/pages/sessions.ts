import type { FastifyPluginCallback } from 'fastify'
import { html } from '../../html.ts'
import { fill } from '../language/language.ts'
import { ApiRefused, type SessionView } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { page, table, time } from './layout.ts'
import { ownSingleSignOn } from './single-sign-on.ts'

/** Where the reader is signed in. */
export const sessionsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get('/sessions', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const { data } = await api.read<{ data: SessionView[] }>('/api/v1/my/sessions')
    const rows = data.map(({ id, browser, address, createdAt, usedAt, current }) =>
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
    return reply.page(page(visit, {
      title: words.sessions,
      section: 'sessions',
      main: html`<p>${words.sessionsIntro}</p>
<p><a href="/console/second-factor">${words.factor}</a></p>
<section>${
        table(words.sessions, [sessionBrowser, sessionAddress, sessionBegan, sessionUsed, status], rows)
      }</section>${await ownSingleSignOn(visit)}`
    }))
  })

  app.post<{ Params: { id: string } }>('/sessions/:id/end', async (request, reply) => {
    const ended = await visitOf(request).api.send('DELETE', `/api/v1/my/sessions/${encodeURIComponent(request.params.id)}`)
    if (!ended.ok) throw new ApiRefused(ended)
    return reply.redirect('/console/sessions', 303)
  })
  done()
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
