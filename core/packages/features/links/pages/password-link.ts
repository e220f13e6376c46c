import { fill, type Html, html, notice, sentences, userPage, type UserView, type Visit } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { PasswordLinkView } from '../contract/links.ts'
import { deliveryField, deliveryIn, mailsLinks } from './delivery.ts'
import { linkPage } from './made-link.ts'
import { visitOf, wordsOf } from './words.ts'

type Posted = { Params: { id: string }, Body: URLSearchParams }

/** Links with which a user of the reader's company chooses another password. */
export const passwordLinkPages: FastifyPluginCallback = (app, _options, done) => {
  app.post<Posted>('/company/users/:id/password-link', async (request, reply) => {
    const [visit, { params: { id }, body }] = [visitOf(request), request]
    const user = await visit.api.read<UserView>(`/api/v1/users/${encodeURIComponent(id)}`)
    const made = await visit.api.send<PasswordLinkView>('POST', `/api/v1/users/${encodeURIComponent(id)}/password-link${deliveryIn(body)}`)
    if (made.ok) {
      const { passwordLink, passwordLinkMade } = visit.words
      const back = html`<a href="/console/company/users/${id}">${user.email}</a>`
      const { email } = user
      return reply.page(linkPage(visit, made.body, { title: passwordLink, intro: fill(passwordLinkMade, { email }), email, back }))
    }
    const said = notice('bad', html`<p>${visit.words.companyUnchanged}</p>${sentences(visit.words, made.error)}`)
    return reply.code(made.status).page(await userPage(visit, id, said))
  })
  done()
}

/** Makes such a link, on the page of another user. */
export async function passwordLinkSection ({ api, actor, words: ofConsole }: Visit, user: UserView): Promise<Html> {
  if (user.id === actor.userId) return html``
  const [words, mails] = [wordsOf(ofConsole), await mailsLinks(api)]
  return html`<section aria-labelledby="link"><h2 id="link">${words.passwordLink}</h2><p>${words.passwordLinkIntro}</p>
<form method="post" action="/console/company/users/${String(user.id)}/password-link">${
    mails && user.role !== 'operator' ? deliveryField(words) : html``
  }<div class="actions"><button class="second">${words.passwordLinkMake}</button></div></form></section>`
}
