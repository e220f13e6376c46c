import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill, type Words } from '../language/language.ts'
import type { RecoveryCodesView, SecondFactorView } from '../session/api.ts'
import { sectionsOf } from '../session/offered.ts'
import { proofIn } from '../session/proof.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { copyable, notice, page, time } from './layout.ts'
import { proofForm, refusedProof, statusOf } from './proof.ts'

type Form = { Body: URLSearchParams }

const at = '/console/second-factor'
const api = '/api/v1/my/second-factor'

/** How the reader signs in besides the password: what features bring, and recovery codes. */
export const secondFactorPages: FastifyPluginCallback = (app, _options, done) => {
  const config = { enrolment: true }
  const proved = { ...config, confirms: 'form' } as const

  app.get('/second-factor', { config }, async (request, reply) => reply.page(await secondFactorPage(request)))

  app.post<Form>('/second-factor/recovery-codes', { config: proved }, async (request, reply) => {
    const visit = visitOf(request)
    const renewed = await visit.api.send<RecoveryCodesView>('POST', `${api}/recovery-codes`, proofIn(request.body))
    if (renewed.ok) return reply.page(codesPage(visit, renewed.body))
    return reply.code(statusOf(renewed)).page(await secondFactorPage(request, { said: refusedProof(visit.words, renewed) }))
  })

  app.post<Form>('/second-factor/remove', { config: proved }, async (request, reply) => {
    const visit = visitOf(request)
    const removed = await visit.api.send('POST', `${api}/remove`, proofIn(request.body))
    if (removed.ok) return reply.redirect(at, 303)
    return reply.code(statusOf(removed)).page(await secondFactorPage(request, { said: refusedProof(visit.words, removed) }))
  })
  done()
}

/** The page of what there is. `sections`: in the place of those that the kinds of verification show of themselves. */
export async function secondFactorPage (
  request: FastifyRequest,
  { said = html``, sections = {} }: { said?: Html, sections?: Readonly<Record<string, Html>> } = {}
): Promise<Html> {
  const visit = visitOf(request)
  const { words, actor } = visit
  const state = await visit.api.read<SecondFactorView>(api)
  const ofKinds: Html[] = []
  for (const { kind, section } of sectionsOf(request)) ofKinds.push(sections[kind] ?? await section(visit, state))
  const demanded = actor.lacksSecondFactor === true && !state.enabled ? notice('warn', html`<p>${words.factorDemanded}</p>`) : html``
  return factorPage(visit, html`${said}${demanded}${ofKinds}${state.enabled ? enabledSections(words, state) : html``}`)
}

function enabledSections (words: Words, { since, recoveryCodes }: SecondFactorView): Html {
  const renew = { label: words.recoveryRenew, intro: words.recoveryRenewIntro, tone: 'second' } as const
  const remove = { label: words.factorRemove, intro: words.factorRemoveIntro, tone: 'danger' } as const
  return html`<section aria-labelledby="codes"><h2 id="codes">${words.recoveryCodes}</h2>
<p>${fill(words.recoveryLeft, { left: recoveryCodes })}</p>${
    proofForm(words, { action: `${at}/recovery-codes`, id: 'codes', ...renew })
  }</section><section aria-labelledby="remove"><h2 id="remove">${words.factorEnd}</h2>${
    since === null ? html`` : html`<p>${words.factorSince}${words.colon}${time(since)}</p>`
  }${proofForm(words, { action: `${at}/remove`, id: 'factor', ...remove })}</section>`
}

/** The page that shows recovery codes, once. */
export function codesPage (visit: Visit, { recoveryCodes }: RecoveryCodesView): Html {
  const { words } = visit
  return factorPage(visit, html`${notice('good', html`<p>${words.recoveryMade}</p>`)}<section aria-labelledby="codes">
<h2 id="codes">${words.recoveryCodes}</h2><p>${words.recoveryIntro}</p><ul class="codes"${copyable(words)}>${
    recoveryCodes.map((code) => html`<li><code>${code}</code></li>\n`)
  }</ul></section><p><a class="button" href="/console">${words.recoveryKept}</a></p>`)
}

/** A page about the second factor. */
export function factorPage (visit: Visit, main: Html): Html {
  const { words, actor } = visit
  const back = actor.lacksSecondFactor === true ? html`` : html`<p><a href="/console/sessions">${words.account}</a></p>`
  return page({ ...visit, path: at }, { title: words.factor, section: 'sessions', main: html`${back}${main}` })
}
