import { compileJsonSchema } from '@dispatch/common'
import { compileTemplate, type DataCheck, dataCheck, type DataFindings, type Format, type TemplateWorkers,
  withPlaceholderImages } from '@dispatch/documents'
import { LRUCache } from 'lru-cache'
import type { ContentKind } from '../../services/content.ts'
import { formatOf, services } from '../../services/index.ts'
import type { ResolvedRequest, ResolvedStep, ResolvedTemplate } from './resolve.ts'

/** Who signs the documents of a request: how many, and where the request names them. */
export type Signing = { count: number, path: string }

/** What the template of a step says about its data. Paths point into the request. */
export type TemplateFindings = (step: ResolvedStep & { template: ResolvedTemplate }, signing: Signing | undefined) => DataFindings

const at = '/template/data'
const mostTemplates = 500

/** The signers of the first step that has some. */
export function signingOf (steps: readonly ResolvedStep[]): Signing | undefined {
  const [signing] = steps.flatMap(({ service, fields, at: where }) => {
    const names = services[service].signers?.(fields)
    return names === undefined ? [] : [{ count: names.length, path: where('signers') }]
  })
  return signing
}

/**
 * Compiles each version of a template once, and keeps those in use. What fits the schema of a shared template can be put into
 * it (their tests hold them to that): it is evaluated only to learn whether more sign than the request names.
 */
export function createSharedChecks (): TemplateFindings {
  const compiled = new LRUCache<string, { check: DataCheck, mostSigners: number }>({ max: mostTemplates })

  function compile ({ schema, source }: ResolvedTemplate['template']): { check: DataCheck, mostSigners: number } {
    const template = compileTemplate(source)
    return { check: dataCheck(compileJsonSchema(schema), template), mostSigners: Math.max(0, ...template.signers) }
  }

  return ({ template: { template, data }, ...step }, signing) => {
    const known = compiled.get(template.digest) ?? compile(template)
    compiled.set(template.digest, known)
    const { check, mostSigners } = known
    return signing !== undefined && mostSigners > signing.count ? check.evaluate(data, at, madeAs(step)) : check.fit(data, at)
  }
}

/**
 * Asks every template of a draft about its data: a shared one at once, a company's own in a template worker, because nobody knows what its
 * schema and its expressions ask for.
 */
export function createTemplateChecks (templateWorkers: Pick<
  TemplateWorkers,
  'check'
>): (draft: Pick<ResolvedRequest, 'steps' | 'deferred'>) => Promise<TemplateFindings> {
  const shared = createSharedChecks()

  async function find (step: ResolvedStep & { template: ResolvedTemplate }, signing: Signing | undefined): Promise<DataFindings> {
    const { template: { companyId, digest, schema, source }, data } = step.template
    return companyId === null
      ? shared(step, signing)
      : templateWorkers.check(companyId, {
        template: { digest, source: withPlaceholderImages(source), schema },
        data,
        at,
        format: madeAs(step)
      })
  }

  return async ({ steps, deferred }) => {
    const signing = signingOf(steps)
    const asking = [...steps, ...deferred].flatMap(({ template, ...step }) => template === undefined ? [] : [{ ...step, template }])
    const found = new Map(await Promise.all(asking.map(async (step) => [step.template, await find(step, signing)] as const)))
    return ({ template }) => found.get(template) ?? { problems: [], warnings: [], signers: 0 }
  }
}

const formats = { message: 'html', text: 'text', upload: 'pdf' } as const satisfies Partial<Record<ContentKind, Format>>

/** What is made of the template of a step. */
function madeAs ({ service, fields }: Pick<ResolvedStep, 'service' | 'fields'>): Format {
  const { content } = services[service]
  return content === 'document' ? formatOf(service, fields) : formats[content]
}
