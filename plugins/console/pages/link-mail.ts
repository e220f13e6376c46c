import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { choiceField, textField } from '../form/fields.ts'
import { ApiRefused, type LinkMailView, type MyConfig } from '../session/api.ts'
import { mailService } from '../session/services.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import { notice, page } from './layout.ts'
import { nameOf, readProviders } from './provider-names.ts'
import { errorOf, said, type Typed, wrongOf } from './typed.ts'

const at = '/console/link-mail'
const api = '/api/v1/link-mail'

/** By which provider one-time links are mailed, for operators. */
export const linkMailPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/link-mail', async (request, reply) => {
    const visit = visitOf(request)
    const reported = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visit.words.companySaved}</p>`)
    return reply.page(await view(visit, { message: reported }))
  })

  app.post<{ Body: URLSearchParams }>('/link-mail', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const sender = { providerName: body.get('provider') ?? '', from: (body.get('from') ?? '').trim() }
    const saved = await visit.api.send('PUT', api, sender)
    if (saved.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(saved.status).page(await view(visit, { typed: { body, error: errorOf(saved) } }))
  })

  app.post('/link-mail/remove', { config: { confirms: removal } }, async (request, reply) => {
    const removed = await visitOf(request).api.send('DELETE', api)
    if (!removed.ok && removed.status !== 404) throw new ApiRefused(removed)
    return reply.redirect(`${at}?saved=1`, 303)
  })
  done()
}

/** Asks before links are mailed no more. */
async function removal (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api: ask } = visitOf(request)
  const { current } = await ask.read<LinkMailView>(api)
  return {
    title: words.linkMailRemove,
    says: [words.linkMailRemoveIntro],
    touches: [[words.provider, current?.providerName], [words.linkMailFrom, current?.from]],
    button: words.linkMailRemove,
    back: at
  }
}

async function view (visit: Visit, { message = html``, typed }: { message?: Html, typed?: Typed }): Promise<Html> {
  const { words, actor } = visit
  if (actor.role !== 'operator') {
    const message = 'Only an operator of the platform can do this.'
    throw new ApiRefused({ ok: false, status: 403, error: { error: 'forbidden', message, requestId: '' } })
  }
  const [{ available, current }, { services }, providers] = await Promise.all([
    visit.api.read<LinkMailView>(api),
    visit.api.read<MyConfig>('/api/v1/my/config'),
    readProviders(visit)
  ])
  const codes = services[mailService]?.available ?? []
  const broken = current !== null && !available ? notice('warn', html`<p>${words.linkMailBroken}</p>`) : html``
  const form = html`<form method="post" action="${at}" novalidate>${
    choiceField({
      name: 'provider',
      label: words.provider,
      value: typed?.body.get('provider') ?? current?.providerName ?? '',
      options: codes.map((code) => ({ value: code, label: nameOf(providers, code) })),
      wrong: wrongOf(words, typed, '/providerName')
    })
  }${
    textField({
      name: 'from',
      label: words.linkMailFrom,
      type: 'email',
      value: typed?.body.get('from') ?? current?.from ?? '',
      wrong: wrongOf(words, typed, '/from')
    })
  }<div class="actions"><button>${words.save}</button></div></form>`
  const removal =
    html`<form method="post" action="${at}/remove"><div class="actions"><button class="danger">${words.linkMailRemove}</button></div></form>`
  const main = html`<p><a href="/console/companies">${words.companies}</a></p>${message}${broken}<section aria-labelledby="settings">
<h2 id="settings">${words.settings}</h2><p>${words.linkMailAbout}</p>${said(words, typed)}${
    codes.length === 0 ? html`<p>${words.linkMailNoProvider} <a href="/console/providers">${words.providers}</a></p>` : form
  }${current === null ? html`` : removal}</section>`
  return page({ ...visit, path: at }, { title: words.linkMail, section: 'companies', main })
}
