import { at as valueAt, compileJsonSchema, type JsonObject, type Problem, withoutMembers } from '@dispatch/common'
import { compileTemplate, type DataCheck, dataCheck, type DataFindings, type SubjectFindings, type TemplateWorkers, withBrand,
  withPlaceholderImages } from '@dispatch/documents'
import { madeAs, services } from '@dispatch/services'
import { LRUCache } from 'lru-cache'
import { shownData } from '../facts.ts'
import { type ResolvedRequest, type ResolvedStep, type ResolvedTemplate, subjectMadeBy } from './resolve.ts'

/** Who signs the documents of a request: how many, and where the request names them. */
export type Signing = { count: number, path: string }

/** What was found in the data of a step. `showsPictures` evaluates the template, where that was not done yet. */
export type StepFindings = DataFindings & { showsPictures: () => boolean }

/** Checks the data of a step against its template. Paths point into the request. */
export type TemplateFindings = (step: TemplateStep, signing: Signing | undefined) => StepFindings

type TemplateStep = ResolvedStep & { template: ResolvedTemplate }

/** The checks of shared templates. `subject`: of a mail, by a template that has one. */
export type SharedChecks = { find: TemplateFindings, subject: (content: Pick<ResolvedTemplate, 'template' | 'data'>) => SubjectFindings }

/**
 * A draft whose data are as their schemas have them, without null for what is absent, and whose mails have the subjects of their templates
 * where the request leaves them out; and what was found in the data.
 */
export type CheckedData<Draft> = { draft: Draft, templateFindings: TemplateFindings }

const at = '/template/data'
const maxTemplates = 500

/** The signers of the first step that has some. */
export function signingOf (steps: readonly ResolvedStep[]): Signing | undefined {
  const [signing] = steps.flatMap(({ service, fields, at: where }) => {
    const names = services[service].signers?.(fields)
    return names === undefined ? [] : [{ count: names.length, path: where('signers') }]
  })
  return signing
}

/**
 * Compiles each version of a shared template once and caches it. Data that fit its schema can always be rendered (the tests of the shared
 * templates ensure that). So the template is evaluated only to count its signers.
 */
export function createSharedChecks (): SharedChecks {
  const compiled = new LRUCache<string, { check: DataCheck, maxSigners: number }>({ max: maxTemplates })

  function compile ({ schema, source }: ResolvedTemplate['template']): { check: DataCheck, maxSigners: number } {
    const template = compileTemplate(source)
    return { check: dataCheck(compileJsonSchema(schema), template), maxSigners: Math.max(0, ...template.signers) }
  }

  function compiledOf (template: ResolvedTemplate['template']): { check: DataCheck, maxSigners: number } {
    const known = compiled.get(template.digest) ?? compile(template)
    compiled.set(template.digest, known)
    return known
  }

  return {
    find ({ template: { template, data }, ...step }, signing) {
      const { check, maxSigners } = compiledOf(template)
      const evaluate = (): DataFindings => check.evaluate(data, at, madeAs(step.service, step.fields))
      const found = signing !== undefined && maxSigners > signing.count ? evaluate() : check.fit(data, at)
      return { ...found, showsPictures: () => evaluate().pictures === true }
    },
    subject: ({ template, data }) => compiledOf(template).check.subject(data, at)
  }
}

/** A company's own template for its worker. A logo is left out where it cannot be sent, and is no reason to refuse data. */
function checkedTemplate (template: ResolvedTemplate['template']): Pick<ResolvedTemplate['template'], 'digest' | 'source' | 'schema'> {
  const { digest, source, schema } = withBrand(template, template.brand, { logo: false })
  return { digest, source: withPlaceholderImages(source), schema }
}

/**
 * Checks the data of every step against its template: a shared template in this thread, a company's own in a template worker, because its
 * schema and expressions may take any time and memory.
 */
export function createTemplateChecks (templateWorkers: Pick<
  TemplateWorkers,
  'check' | 'subject'
>): <Draft extends Pick<ResolvedRequest, 'steps' | 'deferred'>>(draft: Draft) => Promise<CheckedData<Draft>> {
  const shared = createSharedChecks()

  /** Fields that only the service adds are no fields of the request: it is no mistake that they are not shown. */
  async function find (given: TemplateStep, draft: Pick<ResolvedRequest, 'steps'>, signing: Signing | undefined): Promise<StepFindings> {
    const { template } = given
    const data = shownData(given, draft.steps)
    if (data === template.data) return await findTold(given, signing)
    const found = await findTold({ ...given, template: { ...template, data } }, signing)
    return { ...found, warnings: found.warnings.filter(({ path }) => valueAt(given.template.data, path.slice(at.length)) !== undefined) }
  }

  async function findTold (step: TemplateStep, signing: Signing | undefined): Promise<StepFindings> {
    const { template: { companyId }, data } = step.template
    if (companyId === null) return shared.find(step, signing)
    const found = await templateWorkers.check(companyId, {
      template: checkedTemplate(step.template.template),
      data,
      at,
      format: madeAs(step.service, step.fields)
    })
    return { ...found, showsPictures: () => found.pictures === true }
  }

  /** A step with the subject that its template makes, where its fields leave it out; and the problems that keep it from that. */
  async function titled (
    step: TemplateStep,
    { steps }: Pick<ResolvedRequest, 'steps'>
  ): Promise<{ step: TemplateStep, problems: Problem[] }> {
    const { fields, template: { template } } = step
    const made = subjectMadeBy(step)
    if (made === undefined) return { step, problems: [] }
    const data = shownData(step, steps)
    const { companyId } = template
    const found = companyId === null
      ? shared.subject({ template, data })
      : await templateWorkers.subject(companyId, { template: checkedTemplate(template), data, at })
    // The rules of the service know no mail without a subject, and tell what else is wrong.
    const [subject, problems] = 'subject' in found ? [found.subject, []] : ['', found.problems]
    return { step: { ...step, made, fields: { ...fields, [made]: subject } }, problems }
  }

  return async (draft) => {
    const signing = signingOf(draft.steps)
    const found = new Map<ResolvedTemplate, StepFindings>()
    const check = async (given: ResolvedStep): Promise<ResolvedStep> => {
      const { template } = given
      if (template === undefined) return given
      const { step, problems } = await titled({ ...given, template }, draft)
      const findings = await find(step, draft, signing)
      const { nulls } = findings
      const read = nulls === undefined ? template : { ...template, data: withoutMembers(template.data, nulls) as JsonObject }
      found.set(read, { ...findings, problems: [...problems, ...findings.problems] })
      return { ...step, template: read }
    }
    const [steps, deferred] = await Promise.all([draft.steps, draft.deferred].map((all) => Promise.all(all.map(check))))
    return {
      draft: { ...draft, steps, deferred },
      templateFindings: ({ template }) => found.get(template) ?? { problems: [], warnings: [], signers: 0, showsPictures: () => false }
    }
  }
}
