import { errorOf, fill, type Html, html, notice, numberOf, page, type Query, said, table, textField, type Typed, withQuery, wordFor,
  type Words as ConsoleWords, wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { keptServices, type RetentionView } from '../contract/retention.ts'
import { type Visit, visitOf, wordsOf } from './words.ts'

const at = '/console/privacy/retention'
const apiPath = '/api/v1/company/retention'

type Sent = { Body: URLSearchParams }

/** On the page of the company. */
export function retentionLink (given: ConsoleWords): Html {
  const words = wordsOf(given)
  return html`<section aria-labelledby="retention"><h2 id="retention">${words.retention}</h2><p>${words.retentionOwn}</p>
<div class="actions"><a class="button second" href="${at}">${words.retentionSet}</a></div></section>`
}

/** For how long the company keeps its data. */
export const retentionPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/privacy/retention', async (request, reply) => {
    const visit = visitOf(request)
    const reported = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visit.words.retentionSaved}</p>`)
    return reply.page(await view(visit, reported))
  })

  app.post<Sent>('/privacy/retention', {
    config: {
      async confirms (request) {
        const visit = visitOf(request)
        const { words } = visit
        return {
          title: words.retentionAsk,
          says: [words.retentionWhat, words.retentionStays],
          touches: await touched(visit, retentionIn(request.body)),
          button: words.retentionSave,
          back: at
        }
      }
    }
  }, async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const set = await visit.api.send('PUT', apiPath, retentionIn(body))
    if (set.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(set.status).page(await view(visit, html``, { body, error: errorOf(set) }))
  })
  done()
}

/** For which services data are kept for fewer days, and how many dispatches of each lose theirs: those before are without already. */
async function touched (
  { words, api }: Visit,
  { days, services }: ReturnType<typeof retentionIn>
): Promise<(readonly [string, string])[]> {
  const { operatorDays, inEffect } = await api.read<RetentionView>(apiPath)
  const changes = keptServices.map((name) => {
    const desired = services[name] ?? days ?? operatorDays
    return {
      name,
      before: inEffect[name] ?? operatorDays,
      after: Math.min(typeof desired === 'number' ? desired : operatorDays, operatorDays)
    }
  })
  const shorter = changes.filter(({ before, after }) => after < before)
  return await Promise.all(shorter.map(async ({ name, before, after }) => {
    const [from, to] = [before, after].map((days) => new Date(Date.now() - days * day).toISOString())
    const { data, nextCursor } = await api.read<{ data: unknown[], nextCursor: string | null }>(
      withQuery('/api/v1/dispatches', { service: name, from, to, limit: '100' })
    )
    const older = `${String(data.length)}${nextCursor === null ? '' : '+'}`
    return [wordFor(words, 'service', name), fill(words.retentionFewer, { before, after, older })] as const
  }))
}

const day = 86_400_000

/** The days in a form. What is no number is sent as it was typed: the API says what is wrong with it. */
function retentionIn (body: URLSearchParams): { days: number | string | null, services: Readonly<Record<string, number | string>> } {
  const typed = (name: string): number | string | undefined => {
    const text = (body.get(name) ?? '').trim()
    if (text === '') return undefined
    return /^\d{1,9}$/.test(text) ? Number(text) : text
  }
  const services = Object.fromEntries(keptServices.flatMap((name) => {
    const days = typed(name)
    return days === undefined ? [] : [[name, days] as const]
  }))
  return { days: typed('days') ?? null, services }
}

async function view (visit: Visit, message: Html, typed?: Typed): Promise<Html> {
  const { words, api } = visit
  const { operatorDays, days, services, inEffect } = await api.read<RetentionView>(apiPath)
  const field = (name: string, path: string, label: string, stored: number | null | undefined): Html =>
    textField({
      name,
      label,
      value: typed === undefined ? String(stored ?? '') : typed.body.get(name) ?? '',
      wrong: wrongOf(words, typed, path)
    })
  const rows = keptServices.map((name) =>
    html`<tr><th scope="row">${wordFor(words, 'service', name)}</th><td>${numberOf(words, inEffect[name] ?? operatorDays)}</td></tr>\n`
  )
  const main = html`<p><a href="/console/privacy">${words.privacy}</a></p>${message}
<section aria-labelledby="days"><h2 id="days">${words.retentionDays}</h2><p>${
    fill(words.retentionIntro, { days: numberOf(words, operatorDays) })
  }</p><p>${words.retentionStays}</p>${said(words, typed, 'days', ...keptServices.map((name) => `services/${name}`))}
<form method="post" action="${at}" novalidate><p>${words.retentionHelp}</p>${field('days', '/days', words.retentionAll, days)}${
    keptServices.map((name) => field(name, `/services/${name}`, wordFor(words, 'service', name), services[name]))
  }<div class="actions"><button>${words.retentionSave}</button></div></form></section>
<section aria-labelledby="effect"><h2 id="effect">${words.retentionEffect}</h2>${
    table(words.retentionEffect, [words.services, words.retentionDays], rows)
  }</section>`
  return page({ ...visit, path: at }, { title: words.retention, section: 'privacy', main })
}
