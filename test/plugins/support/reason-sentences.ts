import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { troubleOf } from '../../../core/packages/vendor-io/outcome/request-outcome.ts'
import { type ChosenStep, whyChosen, whyLeft, whyNotChosen } from '../../../core/pipeline/plan/choice-reasons.ts'
import type { Left } from '../../../core/store/dispatch/choices.ts'

const root = new URL('../../../', import.meta.url)

/** Where reasons are written that people read in the console, each a sentence in one text. */
const files = [
  'core/packages/vendor-io/http/callback.ts',
  'core/packages/features/callbacks/service/delivery.ts',
  'core/packages/features/alerts/service/messages.ts',
  'core/pipeline/plan/explain.ts'
]

const codes = ['ECONNREFUSED', 'ENOTFOUND', 'ENETUNREACH', 'CERT_HAS_EXPIRED', 'ETIMEDOUT', 'EPIPE', 'HPE_INVALID', 'EOTHER', '']

/** The sentences in which the service gives reasons: those of the files, and those of functions that put them together. */
export function reasonSentences (): string[] {
  const troubles = codes.map((code) => `"shop.example.com" ${troubleOf(Object.assign(new Error(), { code }))}.`)
  return [...files.flatMap(sentencesIn), ...troubles, ...choices()]
}

/** Texts that are sentences, with a number in the place of each value. */
function sentencesIn (file: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const text = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)
      ? node.text
      : ts.isTemplateExpression(node)
      ? node.templateSpans.reduce((begun, { literal }) => `${begun}7${literal.text}`, node.head.text)
      : ''
    if (/^["A-Z].* .*\.$/.test(text)) found.push(text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(new URL(file, root), 'utf8'), ts.ScriptTarget.Latest, true))
  return found
}

/** All that is said of the choice of a provider. */
function choices (): string[] {
  const step = { step_id: '1', provider_code: 'acme', configured_by: 'company', status: 'planned', providers: null }
  const list = (weight?: number) => [{ code: 'acme', ...weight !== undefined && { weight } }, { code: 'other' }]
  const left = [{ stepId: '1', code: 'other', next: 'acme', error: 'provider_unavailable' }] as unknown as Left[]
  const steps = (['request', 'user', 'company'] as const).flatMap((chosenBy) =>
    [step, { ...step, configured_by: 'nobody' }, { ...step, providers: list() }, { ...step, providers: list(3) }, {
      ...step,
      status: 'uncertain'
    }].map((one) => ({ ...one, chosen_by: chosenBy }) as unknown as ChosenStep)
  )
  return [
    ...steps.flatMap(
      (one) => [whyChosen(one, []), whyChosen(one, left), whyChosen(one, left.map((before) => ({ ...before, code: null })))]
    ),
    ...steps.flatMap((one) => [whyNotChosen(one, () => true), whyNotChosen(one, () => false)]),
    ...left.flatMap((before) => [whyLeft(before), whyLeft({ ...before, next: null })])
  ]
}
