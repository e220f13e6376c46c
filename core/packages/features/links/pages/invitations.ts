import { allowedServices, ApiRefused, type Confirmation, type ConfirmRequest, errorOf, fill, type Html, html, notice, page, roleAndServices,
  said, table, textField, time, type Typed, userIn, withQuery, wordFor, wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { InvitationView, InvitationWithLink } from '../contract/links.ts'
import { deliveryField, deliveryIn, mailsLinks } from './delivery.ts'
import { linkPage } from './made-link.ts'
import { type Visit, visitOf, type Words } from './words.ts'

const at = '/console/company/invitations'

type Named = { Params: { id: string }, Body: URLSearchParams }

/** Invitations to the reader's company, for those who run it. */
export const invitationsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/company/invitations', async (request, reply) => {
    const visit = visitOf(request)
    const { withdrawn, cursor } = request.query
    const reported = withdrawn === undefined ? html`` : notice('good', html`<p>${visit.words.invitationWithdrawn}</p>`)
    return reply.page(await view(visit, { message: reported, cursor: typeof cursor === 'string' ? cursor : '' }))
  })

  app.post<{ Body: URLSearchParams }>('/company/invitations', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const made = await visit.api.send<InvitationWithLink>('POST', `/api/v1/company/invitations${deliveryIn(body)}`, userIn(body))
    if (made.ok) return reply.page(linkPage(visit, made.body, invited(visit.words, made.body)))
    return reply.code(made.status).page(await view(visit, { typed: { body, error: errorOf(made) } }))
  })

  app.post<Named>('/company/invitations/:id/renew', async (request, reply) => {
    const [visit, { params: { id }, body }] = [visitOf(request), request]
    // A link is shown once: a form that is sent again must not end the one that its first sending has made.
    const known = (await invitations(visit)).data.find((invitation) => invitation.id === id)
    if (known !== undefined && known.createdAt !== body.get('made')) {
      return reply.code(409).page(await view(visit, { message: notice('warn', html`<p>${visit.words.invitationRenewedAlready}</p>`) }))
    }
    const made = await visit.api.send<InvitationWithLink>('POST',
      `/api/v1/company/invitations/${encodeURIComponent(id)}/renew${deliveryIn(body)}`)
    if (made.ok) return reply.page(linkPage(visit, made.body, invited(visit.words, made.body)))
    throw new ApiRefused(made)
  })

  app.post<Named>('/company/invitations/:id/withdraw', { config: { confirms: withdrawal } }, async (request, reply) => {
    const { api } = visitOf(request)
    const withdrawn = await api.send('DELETE', `/api/v1/company/invitations/${encodeURIComponent(request.params.id)}`)
    if (!withdrawn.ok) throw new ApiRefused(withdrawn)
    return reply.redirect(`${at}?withdrawn=1`, 303)
  })
  done()
}

/** Asks before the link of an invitation is dead. */
async function withdrawal (request: ConfirmRequest): Promise<Confirmation> {
  const visit = visitOf(request)
  const { words } = visit
  const invitation = (await invitations(visit, { limit: '100' })).data.find(({ id }) => id === request.params.id)
  return {
    title: fill(words.invitationWithdrawFull, { email: invitation?.email ?? request.params.id }),
    says: [words.invitationWithdrawIntro],
    touches: invitation === undefined ? [] : [
      [words.role, wordFor(words, 'rights', invitation.role)],
      [words.services, invitation.services.includes('*') ? words.allServices : invitation.services.length],
      [words.linkUntil, invitation.expired ? words.invitationExpired : invitation.expiresAt.slice(0, 10)]
    ],
    button: words.invitationWithdraw,
    back: at
  }
}

const invited = (words: Words, { email }: InvitationView): { title: string, intro: string, email: string, back: Html } => ({
  email,
  title: words.invitation,
  intro: fill(words.invitationMade, { email }),
  back: html`<a href="${at}">${words.invitations}</a>`
})

type Page = { data: InvitationView[], nextCursor: string | null }

const invitations = ({ api }: Visit, page: Readonly<Record<string, string>> = {}): Promise<Page> =>
  api.read<Page>(withQuery('/api/v1/company/invitations', page))

async function view (
  visit: Visit,
  { message = html``, typed, cursor = '' }: { message?: Html, typed?: Typed, cursor?: string }
): Promise<Html> {
  const { words, actor: { role } } = visit
  const [{ data: open, nextCursor }, mails] = await Promise.all([invitations(visit, { limit: '50', cursor }), mailsLinks(visit.api)])
  const main = html`<p><a href="/console/company">${words.users}</a></p>${message}
<section aria-labelledby="new"><h2 id="new">${words.invitationNew}</h2>${said(words, typed, 'email')}<p>${
    mails ? words.invitationMailIntro : words.invitationIntro
  }</p>
<form method="post" action="${at}" novalidate>
${
    textField({
      name: 'email',
      label: words.email,
      type: 'email',
      value: typed?.body.get('email') ?? '',
      wrong: wrongOf(words, typed, '/email')
    })
  }
${roleAndServices(words, role, typed === undefined ? { role: 'member', services: ['*'] } : userIn(typed.body))}${
    mails ? deliveryField(words, typed?.body.get('mailIn') ?? undefined) : html``
  }
<div class="actions"><button>${mails ? words.invitationInvite : words.invitationMake}</button></div></form></section>
<section aria-labelledby="open"><h2 id="open">${words.invitationsOpen}</h2>${
    open.length === 0 ? html`<p>${words.invitationsNone}</p>` : list(words, open, mails)
  }${
    nextCursor === null ? html`` : html`<hr><p><a href="${withQuery(at, { cursor: nextCursor })}" rel="next">${words.older}</a></p>`
  }</section>`
  return page({ ...visit, path: at }, { title: words.invitations, section: 'company', main })
}

function list (words: Words, open: readonly InvitationView[], mails: boolean): Html {
  const form = ({ id, email, createdAt }: InvitationView, name: 'renew' | 'withdraw'): Html => {
    const [label, full] = name === 'renew'
      ? [words.invitationRenew, words.invitationRenewFull]
      : [words.invitationWithdraw, words.invitationWithdrawFull]
    return html`<form method="post" action="${at}/${id}/${name}"><input type="hidden" name="made" value="${createdAt}">
<button class="second" aria-label="${fill(full, { email })}">${label}</button>${
      name === 'renew' && mails
        ? html` <button class="second" name="mailIn" value="${words.code}" aria-label="${
          fill(words.linkMailAgainFull, { email })
        }">${words.linkMailAgain}</button>`
        : html``
    }</form>`
  }
  const rows = open.map((invitation) =>
    html`<tr><th scope="row">${invitation.email}</th><td>${wordFor(words, 'role', invitation.role)}</td><td>${
      allowedServices(words, invitation.services)
    }</td><td>${time(invitation.expiresAt)}${
      invitation.expired ? html` <span class="badge warn">${words.invitationExpired}</span>` : html``
    }${mailBadge(words, invitation)}</td><td>${form(invitation, 'renew')}</td><td>${form(invitation, 'withdraw')}</td></tr>\n`
  )
  const { email, role, services, linkUntil, invitationRenew, invitationWithdraw } = words
  return table(words.invitationsOpen, [email, role, services, linkUntil, invitationRenew, invitationWithdraw], rows)
}

function mailBadge (words: Words, { mail }: InvitationView): Html {
  return mail === null ? html`` : html` <span class="badge${mail === 'failed' ? ' bad' : ''}">${words[`mail_${mail}`]}</span>`
}
