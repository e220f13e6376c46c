import { checkWith, createAjv, didYouMean, isRecord, pointer, type Problem, problemsOf, type Validator,
  vocabularies } from '@dispatch/common'
import { referent, type Schema, type SchemaPlace, subschemas } from './subschemas.ts'

/** The check of data against a foreign schema, or the problems of the schema. */
export type DataSchema = { ok: true, fit: Validator<unknown> } | { ok: false, problems: Problem[] }

/** Keywords with which a schema resolves later or changes the meaning of others. */
const refused = new Set(['$async', '$vocabulary', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor', 'id'])

/**
 * Compiles a foreign JSON Schema (2020-12). It may need unlimited time and memory, so it is compiled and used in threads with limits. Its
 * problems have paths below `at`.
 */
export function readDataSchema (schema: Schema, at: string): DataSchema {
  // Each schema has its own Ajv: a shared one would keep every schema and its names for ever. The schema is registered, so that it can
  // refer to itself as "#".
  const ajv = createAjv({ keywords: [], inlineRefs: false, logger: false, addUsedSchema: true }).addSchema([...vocabularies])
  const words = Object.keys(ajv.RULES.keywords).filter((word) => !refused.has(word))
  const rules = [wordRule(words), formatRule(Object.keys(ajv.formats)), referenceRule(schema), dialectProblems, patternProblems]
  const problems = Array.from(subschemas(schema, at)).flatMap((place) => rules.flatMap((rule) => rule(place)))
  if (problems.length > 0) return { ok: false, problems }
  try {
    if (ajv.validateSchema(schema) !== true) return { ok: false, problems: firstOfEach(problemsOf(ajv.errors ?? [], at)) }
    return { ok: true, fit: ending(checkWith(ajv.compile(schema)), at) }
  } catch (error) {
    return { ok: false, problems: [{ path: at, code: 'bad_schema', message: `The schema does not compile: ${reasonOf(error)}.` }] }
  }
}

/** A check of a schema that may be recursive. Data for which the check never ends count as invalid. */
function ending (check: Validator<unknown>, at: string): Validator<unknown> {
  return (value, base = '') => {
    try {
      return check(value, base)
    } catch (error) {
      return {
        ok: false,
        problems: [{
          path: base,
          code: 'bad_schema',
          message: `The schema${at === '' ? '' : ` (${at})`} cannot be applied: ${reasonOf(error)}.`
        }]
      }
    }
  }
}

/** A schema that refers to itself without a step into the data is followed until the stack overflows. */
function reasonOf (error: unknown): string {
  if (error instanceof RangeError) return 'it refers to itself without end'
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
}

/** The meta-schema reports one place in many ways; the first one is the simplest. */
function firstOfEach (problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.toReversed().map((problem) => [problem.path, problem])).values()].reverse()
}

/** The problems of one schema, without those of the schemas inside it. */
type Rule = (place: SchemaPlace) => Problem[]

function wordRule (words: readonly string[]): Rule {
  return ({ node, path }) =>
    Object.keys(node).filter((word) => !words.includes(word))
      .map((word) => ({
        path: pointer(path, word.slice(0, 60)),
        code: 'unknown_keyword',
        message: `"${word.slice(0, 60)}" is not a keyword that a data schema may have${didYouMean(word, words)}.`
      }))
}

function formatRule (formats: readonly string[]): Rule {
  return ({ node: { format }, path }) =>
    typeof format !== 'string' || formats.includes(format)
      ? []
      : [{
        path: pointer(path, 'format'),
        code: 'unknown_format',
        message: `There is no format "${format.slice(0, 60)}"${didYouMean(format, formats)}; there are: ${formats.join(', ')}.`
      }]
}

function referenceRule (root: Schema): Rule {
  return ({ node: { $ref }, path }) => {
    if (typeof $ref !== 'string' || referent($ref, root) !== undefined) return []
    const own = isRecord(root['$defs']) ? Object.keys(root['$defs']).map((name) => `#/$defs/${name}`) : []
    const known = [...vocabularies.map(({ $id }) => $id), ...own]
    const message = `There is no ${$ref.slice(0, 60)}${didYouMean($ref, known)}: expected a part of the schema, such as #/$defs/line, or ` +
      `${vocabularies.map(({ $id }) => $id).join(', ')}; nothing is fetched from elsewhere.`
    return [{ path: pointer(path, '$ref'), code: 'unknown_reference', message }]
  }
}

const dialect = 'https://json-schema.org/draft/2020-12/schema'

function dialectProblems ({ node: { $schema }, path }: SchemaPlace): Problem[] {
  return $schema === undefined || $schema === dialect
    ? []
    : [{ path: pointer(path, '$schema'), code: 'unknown_dialect', message: `Expected ${dialect}, or no $schema.` }]
}

function patternProblems ({ node: { pattern, patternProperties }, path }: SchemaPlace): Problem[] {
  const keys = isRecord(patternProperties)
    ? Object.keys(patternProperties).map((key) => [key, pointer(pointer(path, 'patternProperties'), key.slice(0, 60))] as const)
    : []
  return [...typeof pattern === 'string' ? [[pattern, pointer(path, 'pattern')] as const] : [], ...keys].flatMap(([text, at]) => {
    const fault = regexFault(text)
    return fault === undefined ? [] : [{ path: at, code: 'bad_pattern', message: `Not a regular expression: ${fault}.` }]
  })
}

function regexFault (pattern: string): string | undefined {
  try {
    RegExp(pattern, 'u')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
