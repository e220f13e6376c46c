import { ApiRefused, codesPage, copied, factorPage, type Html, html, notice, offerFactor, type RecoveryCodesView, statusOf,
  textField } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { NewAuthenticatorView } from '../contract/authenticators.ts'
import { qrCode } from './qr-code.ts'
import { type Visit, visitOf, type Words, wordsOf } from './words.ts'

type Form = { Body: URLSearchParams }

const at = '/console/second-factor'
const api = '/api/v1/my/second-factor'

/** The app of the reader that makes codes: its secret is shown once, and a code confirms it. */
export const appPages: FastifyPluginCallback = (app, _options, done) => {
  const config = { enrolment: true }

  offerFactor(app, { kind: 'app', section: ({ words }, state) => Promise.resolve(section(wordsOf(words), state.app)) })

  app.post('/second-factor/app', { config }, async (request, reply) => {
    const visit = visitOf(request)
    const begun = await visit.api.send<NewAuthenticatorView>('POST', api)
    if (!begun.ok && begun.status === 409) return reply.redirect(at, 303)
    if (!begun.ok) throw new ApiRefused(begun)
    return reply.page(newApp(visit, begun.body))
  })

  app.post<Form>('/second-factor/confirm', { config }, async (request, reply) => {
    const visit = visitOf(request)
    const confirmed = await visit.api.send<RecoveryCodesView>('POST', `${api}/confirm`, { code: request.body.get('code') ?? '' })
    if (confirmed.ok) return reply.page(codesPage(visit, confirmed.body))
    if (confirmed.status === 409) return reply.redirect(at, 303)
    return reply.code(statusOf(confirmed)).page(confirmPage(visit, notice('bad', html`<p>${visit.words.codeWrong}</p>`)))
  })
  done()
}

function section (words: Words, hasApp: boolean): Html {
  return html`<section aria-labelledby="app"><h2 id="app">${words.factorApp}</h2>${
    hasApp
      ? html`<p><span class="badge good">${words.factorOn}</span></p><p>${words.factorOnIntro}</p>`
      : html`<p>${words.factorIntro}</p>
<form method="post" action="${at}/app"><div class="actions"><button>${words.factorBegin}</button></div></form>`
  }</section>`
}

/** The page that shows the secret of a new app, once. */
function newApp (visit: Visit, { secret, uri }: NewAuthenticatorView): Html {
  const { words } = visit
  return confirmPage(visit, html`<p>${words.factorScan}</p>${qrCode(uri, words.factorQr)}<p>${words.factorType}</p>
<p>${copied(words, secret.replaceAll(/(.{4})(?=.)/g, '$1 '))}</p>`)
}

/** The form for the first code of a new app. */
function confirmPage (visit: Visit, before: Html): Html {
  const { words } = visit
  return factorPage(visit, html`<section>${before}<form method="post" action="${at}/confirm" class="stack">
${
    textField({ name: 'code', label: words.codeOfApp, autocomplete: 'one-time-code', required: true, autofocus: true })
  }<div class="actions"><button>${words.factorConfirm}</button><a href="${at}">${words.factorAgain}</a></div></form></section>`)
}
