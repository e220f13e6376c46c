import type { FastifyPluginCallback } from 'fastify'
import { html } from '../../html.ts'
import { allowedServices, wordFor } from '../language/language.ts'
import type { CompanyView, UserView } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { actSection } from './act.ts'
import { page, time } from './layout.ts'

/** A user of any company, for operators. */
export const companyUserPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Params: { id: string, userId: string } }>('/companies/:id/users/:userId', async (request, reply) => {
    const [visit, { id, userId }] = [visitOf(request), request.params]
    const { words, api } = visit
    const [user, company] = await Promise.all([
      api.read<UserView>(`/api/v1/companies/${encodeURIComponent(id)}/users/${encodeURIComponent(userId)}`),
      api.read<CompanyView>(`/api/v1/companies/${encodeURIComponent(id)}`)
    ])
    const main = html`<p><a href="/console/companies/${String(company.id)}">${company.name}</a></p>
<section aria-labelledby="about"><h2 id="about">${words.summary}${
      user.disabled ? html` <span class="badge warn">${words.disabled}</span>` : html``
    }</h2><dl><dt>${words.number}</dt><dd>${String(user.id)}</dd>
<dt>${words.role}</dt><dd>${wordFor(words, 'role', user.role)}</dd>
<dt>${words.services}</dt><dd>${allowedServices(words, user.services)}</dd>
<dt>${words.created}</dt><dd>${time(user.createdAt)}</dd></dl></section>${company.disabled ? html`` : actSection(visit, user)}`
    return reply.page(page(visit, { title: user.email, section: 'companies', main }))
  })
  done()
}
