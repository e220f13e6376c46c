import type { Sessions } from '@dispatch/accounts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import type { SecondFactorView } from './api.ts'
import type { Visit } from './visit.ts'

/**
 * The form by which a browser answers a question: it is posted to `action`, with the answer in the field `name`. `options`: where the
 * question is asked for, by POST. `use`: in place of the password, or after it. `before` its button stand fields. `wrong`: the answer was
 * refused.
 */
export type AnswerForm = { action: string, options: string, name: string, use: 'alone' | 'second', before: Html, wrong: boolean }

/** What the reader has of a kind of verification, on the page of the second factor. */
export type FactorSection = { kind: string, section: (visit: Visit, state: SecondFactorView) => Promise<Html> }

/** What the console shows of a kind of verification that a browser is asked for. */
export type VerificationForms = FactorSection & {
  form: (words: Words, form: AnswerForm) => Html
  /** What the second page of a sign-in says to somebody who has one. */
  wait: (words: Words) => string
}

/** What the features offer, which the console keeps for itself. */
export const offered = Symbol('verifications')

declare module 'fastify' {
  interface FastifyInstance {
    [offered]: { sessions: Sessions, forms: VerificationForms[], sections: FactorSection[] }
  }
}

/** Has the console ask for the kinds of verification that {@link offerVerification} tells it of. */
export function askForVerifications (app: FastifyInstance, sessions: Sessions): void {
  app.decorate(offered, { sessions, forms: [], sections: [] })
}

/** What the console shows of the kinds of verification that people can have, or of these. */
export function formsOf ({ server: { [offered]: { sessions, forms } } }: FastifyRequest, kinds = sessions.offered()): VerificationForms[] {
  return forms.filter(({ kind }) => kinds.includes(kind))
}

/** What the page of the second factor shows of the kinds that people can have. */
export function sectionsOf ({ server: { [offered]: { sessions, forms, sections } } }: FastifyRequest): FactorSection[] {
  const kinds = sessions.offered()
  return sections.filter(({ kind }) => kinds.includes(kind) || forms.every((one) => one.kind !== kind))
}

/** Has the page of the second factor show what the reader has of a kind that makes codes. Called once, by the pages of its feature. */
export function offerFactor (app: FastifyInstance, section: FactorSection): void {
  app[offered].sections.push(section)
}
