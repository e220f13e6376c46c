import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { checkField, choiceField, linesField, manyField, radioField, textField } from '../form/fields.ts'
import { numberOf, wordFor, type Words } from '../language/language.ts'
import { ApiRefused } from '../session/api.ts'
import { serviceNames } from '../session/services.ts'
import { visitOf } from '../session/visit.ts'
import { columns } from './bars.ts'
import { dispatchChart } from './chart.ts'
import { badge, copied, facts, folded, monogram, notice, page, table, time } from './layout.ts'

/** Services of the samples. */
const samples = serviceNames.slice(0, 3)
const [first = '', chosen = ''] = samples

/** A time of the samples. */
const at = '2026-03-14T09:26:53.000Z'

/**
 * All parts of which pages are made, in each of their states: for those who build pages, and for a test that photographs them. It stands in
 * no menu, and only operators find it.
 */
export const galleryPage: FastifyPluginCallback = (app, _options, done) => {
  app.get('/gallery', async (request, reply) => {
    const visit = visitOf(request)
    const { words, actor: { role } } = visit
    if (role !== 'operator') {
      throw new ApiRefused({ ok: false, status: 404, error: { error: 'not_found', message: words.notFoundText, requestId: request.id } })
    }
    const shown = [texts, buttons, fields, states, notices, tables, charts, nothing]
    return reply.page(page(visit, { title: words.gallery, section: 'operation', main: html`${shown.map((part) => part(words))}` }))
  })
  done()
}

function part (id: string, title: string, content: Html): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>\n`
}

function texts (words: Words): Html {
  const content = html`<p>${words.galleryIntro} <a href="/console/operation">${words.operation}</a></p><h3>${words.document}</h3>
<p class="quiet">${words.notFoundText}</p>${
    facts([[words.recipient, 'Ada Lovelace'], [words.provider, 'simulator'], [words.finished, time(at)], ['ID',
      html`<code>01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90</code>`]])
  }<p>${copied(words, 'curl https://dispatch.example.com/healthz')}</p><pre tabindex="0">{ "metadata": { "order": "7" } }</pre>`
  return part('texts', words.galleryTexts, content)
}

function buttons (words: Words): Html {
  return part('buttons', words.galleryButtons, html`<div class="actions"><button type="button">${words.send}</button>
<button type="button" class="second">${words.filter}</button><button type="button" class="danger">${words.lineRemove}</button>
<button type="button" disabled>${words.send}</button><a class="button second" href="#buttons">${words.more}</a></div>`)
}

function fields (words: Words): Html {
  const options = samples.map((value) => ({ value, label: wordFor(words, 'service', value) }))
  const wrong = [html`${words.seeFields}`]
  return part('fields', words.galleryFields,
    html`<form method="get" action="/console/gallery" novalidate>${
      textField({ name: 'text', label: words.recipient, value: 'Ada Lovelace', help: words.galleryHelp })
    }${textField({ name: 'wrong', label: words.email, type: 'email', value: 'ada@', wrong })}${
      linesField({ name: 'lines', label: words.document, value: 'A\nB', placeholder: 'A' })
    }${choiceField({ name: 'choice', label: words.service, options, value: chosen, none: words.allServices })}${
      radioField({ name: 'one', label: words.service, value: chosen, options })
    }${manyField({ name: 'many', label: words.services, values: [first, chosen], options, wrong })}${
      checkField({ name: 'check', label: words.filter, checked: true, help: words.galleryHelp })
    }</form>${
      folded(words, true,
        html`<form class="filters" method="get" action="/console/gallery" role="search">${
          textField({ name: 'q', label: words.filter, type: 'search' })
        }<div class="actions"><button class="second">${words.filter}</button></div></form>`)
    }`)
}

/** Each kind of badge, with every word that it has. */
const kinds = ['status', 'state', 'delivery', 'health', 'version', 'mode', 'earnest'] as const

function states (words: Words): Html {
  const rows = kinds.map((kind) => {
    const names = Object.keys(words).flatMap((key) => key.startsWith(`${kind}_`) ? [key.slice(kind.length + 1)] : [])
    return html`<tr><th scope="row"><code>${kind}</code></th><td>${names.map((name) => html`${badge(words, kind, name)} `)}</td></tr>\n`
  })
  return part('states', words.galleryStates, table(words.galleryStates, [words.filter, words.status], rows))
}

function notices (words: Words): Html {
  return part('notices', words.galleryNotices,
    html`${
      (['good', 'warn', 'bad'] as const).map((tone) => notice(tone, html`<p>${words.galleryHelp} <a href="#notices">${words.more}</a></p>`))
    }`)
}

function tables (words: Words): Html {
  const rows = samples.map((service, index) =>
    html`<tr><th scope="row">${monogram(service)}<a href="#tables">${wordFor(words, 'service', service)}</a></th><td>${
      badge(words, 'status', 'succeeded')
    }</td><td class="count">${numberOf(words, 1_234 * (index + 1))}</td><td class="beside-phone">${time(at)}</td></tr>\n`
  )
  return part('tables', words.galleryTables, table(words.galleryTables, [words.service, words.status, words.price, {
    title: words.finished,
    isBeside: true
  }], rows))
}

function charts (words: Words): Html {
  const data = samples.flatMap((service, index) => [
    { service, status: 'succeeded' as const, count: 40 - 12 * index },
    { service, status: 'running' as const, count: 3 },
    { service, status: 'failed' as const, count: 2 * index + 1 }
  ])
  const days = Array.from({ length: 14 }, (_, day) => ({
    label: `2026-03-${String(day + 1).padStart(2, '0')}`,
    title: String(day),
    href: '#charts',
    parts: [{ tone: 'succeeded' as const, size: 20 + 7 * (day % 5) }, { tone: 'failed' as const, size: day % 4 }]
  }))
  return part('charts', words.galleryCharts,
    html`${dispatchChart(words, { data, from: at, to: at })}${columns(days, (size) => numberOf(words, size))}`)
}

function nothing (words: Words): Html {
  return part('nothing', words.galleryNothing, html`<p>${words.lastDayNone}</p><p><a class="button" href="#nothing">${words.send}</a></p>`)
}
