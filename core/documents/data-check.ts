import type { Problem } from '../contract/errors.ts'
import type { Check } from '../contract/schema.ts'
import { unread, type Uses } from './uses.ts'

/** What a template says about data: what keeps them from fitting its schema, and the fields that it never shows. */
export type DataFindings = { problems: Problem[], warnings: Problem[] }

/** Checks data that stand at `at` in a request. */
export type DataCheck = (data: object, at: string) => DataFindings

/** The check of a template by its compiled schema and the fields that it reads. */
export function dataCheck (fit: Check<unknown>, uses: Uses): DataCheck {
  return (data, at) => {
    const result = fit(data, at)
    const warnings = unread(uses, data).map((path) => ({ path: at + path, code: 'unused_field', message: 'The template does not show this field.' }))
    return { problems: result.ok ? [] : result.problems, warnings }
  }
}
