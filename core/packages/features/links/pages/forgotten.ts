import { ApiRefused, document, type Html, html, languageOf, notice, openApi, textField } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import { type Words, wordsOf } from './words.ts'

/** For who has forgotten the password: a link comes by e-mail. What is answered does not tell whether there is such a user. */
export const forgottenPages: FastifyPluginCallback = (app, _options, done) => {
  const config = { withoutSession: true }

  app.get('/forgotten', { config }, async (request, reply) => {
    const words = wordsOf(languageOf(request))
    return reply.page(narrow(words, await offersForgotten(request) ? form(words) : html`<p>${words.forgottenNone}</p>`))
  })

  app.post<{ Body: URLSearchParams }>('/forgotten', { config }, async (request, reply) => {
    const words = wordsOf(languageOf(request))
    const requested = { email: (request.body.get('email') ?? '').trim(), language: words.code }
    const sent = await openApi(request).send('POST', '/auth/password-links', requested)
    if (!sent.ok && sent.status === 429) throw new ApiRefused(sent)
    return reply.code(sent.ok ? 200 : sent.status).page(
      narrow(words, sent.ok ? notice('good', html`<p>${words.forgottenSent}</p>`) : html`<p>${words.forgottenNone}</p>`)
    )
  })
  done()
}

/** Whether links are mailed; false too where that is not known. */
async function offersForgotten (request: FastifyRequest): Promise<boolean> {
  const answer = await openApi(request).send<{ offered: boolean }>('GET', '/auth/password-links')
  return answer.ok && answer.body.offered
}

const form = (words: Words): Html =>
  html`<p>${words.forgottenIntro}</p><form method="post" action="/console/forgotten" class="stack">
${textField({ name: 'email', label: words.email, type: 'email', autocomplete: 'username', required: true })}
<div class="actions"><button>${words.forgottenAsk}</button></div></form>`

function narrow (words: Words, main: Html): Html {
  const whole = html`<div class="narrow">${main}<hr><p><a href="/console/sign-in">${words.signIn}</a></p></div>`
  return document(words, { title: words.forgotten, main: whole, path: '/console/forgotten' })
}
