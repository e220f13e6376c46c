import { fieldsOf, type Html, html, notice, page, readSettings, type Refusal, sentences, visitWith } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { OwnDetails } from '../contract/contacts.ts'
import { ownForm, wordsOf } from './forms.ts'

const visitOf = visitWith(wordsOf)

/** Who the reader's company is on its documents, for its admins. */
export const ownDetailsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/company/details', async (request, reply) => {
    const visit = visitOf(request)
    const values = await visit.api.read<OwnDetails>(path)
    const said = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visit.words.ownDetailsSaved}</p>`)
    return reply.page(view(visit, { values, said }))
  })

  app.post<{ Body: URLSearchParams }>('/company/details', async (request, reply) => {
    const visit = visitOf(request)
    const values = readSettings(ownForm, request.body)
    const answer = await visit.api.send('PUT', path, values)
    if (answer.ok) return reply.redirect('/console/company/details?saved=1#main', 303)
    return reply.code(answer.status).page(
      view(visit, { values, said: notice('bad', sentences(visit.words, answer.error)), refused: answer })
    )
  })
  done()
}

const path = '/api/v1/company/details'

type Shown = { values: object, said: Html, refused?: Refusal }

function view (visit: ReturnType<typeof visitOf>, { values, said, refused }: Shown): Html {
  const { words } = visit
  const main = html`${said}<section aria-label="${words.ownDetails}"><p>${words.ownDetailsIntro}</p>
<form method="post" action="/console/company/details" novalidate>${
    fieldsOf(words, ownForm, { values: { ...values }, problems: refused?.error.details ?? [] }, { name: '', path: '' })
  }<div class="actions"><button>${words.contactSave}</button></div></form></section>
<section aria-labelledby="logo"><h2 id="logo">${words.ownLogo}</h2><p>${words.ownLogoIntro}</p>
<div class="actions"><a class="button second" href="/console/company/brand">${words.ownLogoSet}</a></div></section>`
  return page(visit, { title: words.ownDetails, section: 'company', main })
}
