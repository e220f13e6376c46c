import type { JsonObject } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import { apiFormats, type Format, type KeptBrand, RenderError, type RenderJob, type TemplateWorkers, withBrand,
  withPlaceholderImages } from '@dispatch/documents'
import type { PreviewBody, PreviewFormat } from '../contract/templates.ts'
import type { NewVersion } from '../store/template-changes.ts'
import { refuseIfAny } from './inspect.ts'
import { makePreview, type Preview, usualFormat } from './preview.ts'

type Parts = { templateWorkers: TemplateWorkers, now: () => Date }

/** Makes a document of a version in a brand, of its sample or of data that fit it. Throws `validation_failed` with every fault. */
export async function previewVersion (
  parts: Parts,
  companyId: number,
  given: NewVersion & { id: number, version: number },
  { data, format = usualFormat(given.source), brand }: Pick<PreviewBody, 'data' | 'format'> & { brand?: KeptBrand | undefined } = {}
): Promise<Preview> {
  const template = withBrand(given, brand)
  if (data !== undefined) await requireFit(parts, companyId, template, { data, format: apiFormats[format] })
  const shown = data === undefined ? { data: template.sample, at: '/sample' } : { data, at: '/data' }
  const subject = await subjectOf(parts, companyId, template, shown)
  const preview = await show(parts, companyId, template, { ...shown, format })
  return subject === undefined ? preview : { ...preview, subject }
}

async function subjectOf (
  { templateWorkers }: Parts,
  companyId: number,
  template: NewVersion,
  shown: { data: JsonObject, at: string }
): Promise<string | undefined> {
  if (template.source.subject === undefined) return undefined
  const made = await templateWorkers.subject(companyId, { template: withoutPictures(template), ...shown })
  if ('subject' in made) return made.subject
  throw refusal('validation_failed', made.problems)
}

/** Throws `validation_failed` with every fault of data that do not fit a version. */
export async function requireFit (
  { templateWorkers }: Pick<Parts, 'templateWorkers'>,
  companyId: number,
  version: NewVersion,
  { data, format }: { data: JsonObject, format: Format }
): Promise<void> {
  const template = withoutPictures(version)
  refuseIfAny((await templateWorkers.check(companyId, { template, data, at: '/data', format })).problems)
}

function withoutPictures ({ digest, schema, source }: NewVersion): Pick<NewVersion, 'digest' | 'schema' | 'source'> {
  return { digest, schema, source: withPlaceholderImages(source) }
}

/** `at`: where the data stand in the client's body. */
async function show (
  { templateWorkers, now }: Parts,
  companyId: number,
  { id, version, digest, source }: RenderJob['template'],
  { data, at, format }: { data: JsonObject, at: string, format: PreviewFormat }
): Promise<Preview> {
  try {
    return await makePreview((job) => templateWorkers.render(companyId, job), {
      template: { id, version, digest, source },
      data,
      now: now().toISOString()
    }, format)
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    throw refusal('validation_failed', error.problems.map((problem) => ({ ...problem, path: at + problem.path })))
  }
}
