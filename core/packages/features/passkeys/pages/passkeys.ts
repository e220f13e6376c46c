import { codesPage, html, notice, offerVerification, proofIn, ProofNeeded, refusedProof, secondFactorPage, sentences, statusOf,
  visitOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { NewPasskeyView } from '../contract/passkeys.ts'
import { passkeyForm } from './form.ts'
import { passkeySection } from './section.ts'
import { wordsOf } from './words.ts'

type Posted = { Params: { id: string }, Body: URLSearchParams }

const api = '/api/v1/my/passkeys'

/** The passkeys of the reader: added by the script of the page, named and removed by forms. */
export const passkeyPages: FastifyPluginCallback = (app, _options, done) => {
  const config = { enrolment: true }

  offerVerification(app, {
    kind: 'passkey',
    form: (words, { use, ...form }) =>
      passkeyForm(words, { ...form, label: use === 'alone' ? wordsOf(words).passkeyAlone : wordsOf(words).passkeyUse }),
    wait: (words) => wordsOf(words).passkeyWait,
    section: (visit) => passkeySection(visit)
  })

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
      if (begun.ok) {
        const said = notice('good', html`<p>${visit.words.proved}</p>`)
        return reply.page(await secondFactorPage(request, { said, sections: { passkey: await passkeySection(visit, { name }) } }))
      }
    }
    const added = await visit.api.send<NewPasskeyView>('POST', api, { name, response })
    if (!added.ok) {
      const section = await passkeySection(visit, { wrong: true })
      return reply.code(statusOf(added)).page(await secondFactorPage(request, { sections: { passkey: section } }))
    }
    return added.body.recoveryCodes.length === 0 ? reply.redirect('/console/second-factor', 303) : reply.page(codesPage(visit, added.body))
  })

  app.post<Posted>('/second-factor/passkeys/:id/name', { config }, async (request, reply) => {
    const [visit, { params: { id }, body }] = [visitOf(request), request]
    const named = await visit.api.send('PUT', `${api}/${encodeURIComponent(id)}`, { name: (body.get('name') ?? '').trim() })
    if (named.ok) return reply.redirect('/console/second-factor', 303)
    const said = notice('bad', html`<p>${visit.words.companyUnchanged}</p>${sentences(visit.words, named.error)}`)
    return reply.code(statusOf(named)).page(await secondFactorPage(request, { said }))
  })

  app.post<Posted>('/second-factor/passkeys/:id/remove', { config: { ...config, confirms: 'form' } }, async (request, reply) => {
    const [visit, { params: { id }, body }] = [visitOf(request), request]
    const removed = await visit.api.send('POST', `${api}/${encodeURIComponent(id)}/remove`, proofIn(body))
    if (removed.ok) return reply.redirect('/console/second-factor', 303)
    return reply.code(statusOf(removed)).page(await secondFactorPage(request, { said: refusedProof(visit.words, removed) }))
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
