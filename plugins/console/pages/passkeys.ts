import type { FastifyPluginCallback } from 'fastify'
import { html } from '../../html.ts'
import type { NewPasskeyView } from '../session/api.ts'
import { proofIn, ProofNeeded } from '../session/proof.ts'
import { visitOf } from '../session/visit.ts'
import { notice, sentences } from './layout.ts'
import { refusedProof, statusOf } from './proof.ts'
import { codesPage, view } from './second-factor.ts'

type Posted = { Params: { id: string }, Body: URLSearchParams }

const api = '/api/v1/my/passkeys'

/** The passkeys of the reader: added by the script of the page, named and removed by forms. */
export const passkeyPages: FastifyPluginCallback = (app, _options, done) => {
  const config = { enrolment: true }

  app.post('/second-factor/passkeys/options', { config }, async (request, reply) => {
    try {
      const begun = await visitOf(request).api.send<object>('POST', `${api}/options`)
      return await (begun.ok ? reply.send(begun.body) : reply.code(begun.status).send(begun.error))
    } catch (error) {
      // The script reads the status alone, and sends its form: that one leads to the page that asks for the proof.
      if (error instanceof ProofNeeded) return reply.code(401).send({})
      throw error
    }
  })

  app.post<Posted>('/second-factor/passkeys', { config }, async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const [name, response] = [(body.get('name') ?? '').trim(), answerIn(body)]
    if (response === null) {
      // The script has sent the form because the reader had to prove first who they are: now they may press its button again.
      const begun = await visit.api.send('POST', `${api}/options`)
      if (begun.ok) return reply.page(await view(visit, { said: notice('good', html`<p>${visit.words.proved}</p>`), passkeyName: name }))
    }
    const added = await visit.api.send<NewPasskeyView>('POST', api, { name, response })
    if (!added.ok) return reply.code(statusOf(added)).page(await view(visit, { wrongPasskey: true }))
    return added.body.recoveryCodes.length === 0 ? reply.redirect('/console/second-factor', 303) : reply.page(codesPage(visit, added.body))
  })

  app.post<Posted>('/second-factor/passkeys/:id/name', { config }, async (request, reply) => {
    const [visit, { params: { id }, body }] = [visitOf(request), request]
    const named = await visit.api.send('PUT', `${api}/${encodeURIComponent(id)}`, { name: (body.get('name') ?? '').trim() })
    if (named.ok) return reply.redirect('/console/second-factor', 303)
    const said = notice('bad', html`<p>${visit.words.companyUnchanged}</p>${sentences(visit.words, named.error)}`)
    return reply.code(statusOf(named)).page(await view(visit, { said }))
  })

  app.post<Posted>('/second-factor/passkeys/:id/remove', { config }, async (request, reply) => {
    const [visit, { params: { id }, body }] = [visitOf(request), request]
    const removed = await visit.api.send('POST', `${api}/${encodeURIComponent(id)}/remove`, proofIn(body))
    if (removed.ok) return reply.redirect('/console/second-factor', 303)
    return reply.code(statusOf(removed)).page(await view(visit, { said: refusedProof(visit.words, removed) }))
  })
  done()
}

/** What the script of the page has put into its form; the API says what is missing where there was no script. */
function answerIn (body: URLSearchParams): unknown {
  try {
    return JSON.parse(body.get('answer') ?? '')
  } catch {
    return null
  }
}
