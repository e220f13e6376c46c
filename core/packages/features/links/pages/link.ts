import { ApiRefused, document, fill, type Html, html, languageOf, notice, openApi, type Refusal, said, secretIn, textField,
  wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import type { LinkView } from '../contract/links.ts'
import { type Words, wordsOf } from './words.ts'

type Posted = { Params: { token: string }, Body: URLSearchParams }

/** Where the holder of a one-time link chooses a password. Opening the page uses nothing up: mail scanners open links, too. */
export const linkPages: FastifyPluginCallback = (app, _options, done) => {
  const config = { withoutSession: true }

  app.get('/link/done', { config }, (request, reply) => {
    const words = wordsOf(languageOf(request))
    const main = html`${notice('good', html`<p>${words.linkDone}</p>`)}<p><a href="/console/sign-in">${words.signIn}</a></p>`
    return reply.page(narrow(words, words.linkDoneTitle, main, '/console/link/done'))
  })

  app.get<Pick<Posted, 'Params'>>('/link/:token', { config }, async (request, reply) => show(request, reply, request.params.token))

  app.post<Posted>('/link/:token', { config }, async (request, reply) => {
    const { params: { token }, body } = request
    const used = await openApi(request).send('POST', '/auth/links/use', { token, password: secretIn(body, 'password') ?? '' })
    if (used.ok) return reply.redirect('/console/link/done', 303)
    return show(request, reply, token, used)
  })
  done()
}

/** The form, or why there is none. After a refusal it says what was wrong. */
async function show (request: FastifyRequest, reply: FastifyReply, token: string, refused?: Refusal): Promise<FastifyReply> {
  const words = wordsOf(languageOf(request))
  const [read, path] = [await openApi(request).send<LinkView>('POST', '/auth/links/read', { token }), `/console/link/${token}`]
  if (read.ok) return reply.code(refused?.status ?? 200).page(view(words, token, read.body, refused))
  if (read.status !== 404 && read.status !== 400) throw new ApiRefused(read)
  return reply.code(404).page(narrow(words, words.linkDeadTitle, html`<p>${words.linkDead}</p>`, path))
}

function view (words: Words, token: string, { purpose, company, email }: LinkView, refused: Refusal | undefined): Html {
  const isNew = purpose === 'invitation'
  const typed = refused && { body: new URLSearchParams(), error: refused.error }
  const main = html`<p>${fill(isNew ? words.linkInvitation : words.linkPassword, { company })}</p>${
    said(words, typed, 'password')
  }<form method="post" action="/console/link/${token}" class="stack" novalidate>
<div class="field"><label for="email">${words.email}</label><input id="email" type="email" autocomplete="username" readonly value="${email}"></div>
${
    textField({
      name: 'password',
      label: isNew ? words.password : words.passwordNew,
      type: 'password',
      autocomplete: 'new-password',
      help: words.passwordHelp,
      wrong: wrongOf(words, typed, '/password')
    })
  }<div class="actions"><button>${isNew ? words.linkAccept : words.passwordSet}</button></div></form>`
  return narrow(words, isNew ? words.linkInvitationTitle : words.passwordNew, main, `/console/link/${token}`)
}

function narrow (words: Words, title: string, main: Html, path: string): Html {
  return document(words, { title, main: html`<div class="narrow">${main}</div>`, path })
}
