import { nullMembers, type Problem, type Validator, withoutMembers } from '@dispatch/common'
import type { CompiledTemplate } from '../compile/compile.ts'
import { unreadFields } from '../compile/field-usage.ts'
import { opening } from '../compile/flow.ts'
import { type Format, showsPage } from '../formats/file-formats.ts'
import type { ResolvedBlock } from '../model/document.ts'
import { RenderError } from '../model/errors.ts'
import { insideOf, lastSigner } from './signers.ts'
import { plainDataOf, templateDataOf } from './template-data.ts'

/**
 * What a template reports about data: the problems that prevent a document, and the fields that it never shows. If the template was
 * evaluated, `signers` is how many signers the document needs, and `pictures` says that it shows some. `nulls`: the places in the data of
 * members that are null, which the schema permits nowhere there: they were read as absent.
 */
export type DataFindings = { problems: Problem[], warnings: Problem[], signers: number, pictures?: true, nulls?: readonly string[] }

/** The subject of a mail with data, or the problems that keep the template from making it. */
export type SubjectFindings = { subject: string } | { problems: Problem[] }

/** The check of data that are at `at` in a request. */
export type DataCheck = {
  /** Checks with the schema only. */
  fit: (data: object, at: string) => DataFindings
  /** Checks with the schema, and then evaluates the template with the data, as for a document of this format. */
  evaluate: (data: object, at: string, format: Format) => DataFindings
  /** Makes the subject of a mail, of a template that has one. */
  subject: (data: object, at: string) => SubjectFindings
}

/** The check of data for a compiled schema. */
export function dataCheck (
  fits: Validator<unknown>,
  template: Pick<CompiledTemplate, 'uses' | 'resolve' | 'subject' | 'source'>
): DataCheck {
  function fit (given: object, at: string): DataFindings {
    const first = fits(given, at)
    const nulls = first.ok ? [] : nullMembers(given, first.nulls ?? [])
    const data = withoutMembers(given, nulls) as object
    const result = nulls.length === 0 ? first : fits(data, at)
    const warnings = unreadFields(template.uses, data).map((path) => ({
      path: at + path,
      code: 'unused_field',
      message: 'The template does not show this field.'
    }))
    return { problems: result.ok ? [] : result.problems, warnings, signers: 0, ...(nulls.length === 0 ? {} : { nulls }) }
  }
  return {
    fit,
    evaluate (given, at, format) {
      const found = fit(given, at)
      if (found.problems.length > 0 || !showsPage(format)) return found
      return { ...found, ...evaluated(template, withoutMembers(given, found.nulls ?? []) as object, at, format) }
    },
    subject (given, at) {
      const { problems, nulls = [] } = fit(given, at)
      return problems.length > 0 ? { problems } : subjectOf(template, withoutMembers(given, nulls), at)
    }
  }
}

function evaluated (
  template: Pick<CompiledTemplate, 'resolve' | 'source'>,
  data: object,
  at: string,
  format: Format
): Pick<DataFindings, 'problems' | 'signers' | 'pictures'> {
  try {
    const document = template.resolve(templateDataOf(template.source, data, format))
    const pictures = showsPictures([...opening(document), ...document.body, ...document.footer])
    return { problems: [], signers: lastSigner(document.body), ...(pictures && { pictures }) }
  } catch (error) {
    return { problems: problemsOf(error, at), signers: 0 }
  }
}

function subjectOf ({ subject, source }: Pick<CompiledTemplate, 'subject' | 'source'>, data: unknown, at: string): SubjectFindings {
  if (subject === undefined) throw new Error('The template has no subject.')
  try {
    return { subject: subject(plainDataOf(source, data)) }
  } catch (error) {
    return { problems: problemsOf(error, at) }
  }
}

/** The problems of data that are at `at`. */
function problemsOf (error: unknown, at: string): Problem[] {
  if (!(error instanceof RenderError)) throw error
  return error.problems.map((problem) => ({ ...problem, path: at + problem.path }))
}

/** Whether any block is a picture, or a code, which a mail shows as one. */
function showsPictures (blocks: readonly ResolvedBlock[]): boolean {
  return blocks.some((block) => block.kind === 'image' || block.kind === 'code' || showsPictures(insideOf(block)))
}
