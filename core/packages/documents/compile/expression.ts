import { didYouMean } from '@dispatch/common'
import { Context, LiquidError, toValueSync, TypeGuards, UndefinedVariableError, Value } from 'liquidjs'
import { RenderError, renderError } from '../model/errors.ts'
import { type CompileContext, recordRead, reportFault } from './compile-context.ts'
import { withFallbacks } from './fallback.ts'
import type { Path, Read } from './field-usage.ts'
import { engine, pageFields, settingNames } from './liquid.ts'
import { planValue, type Reading } from './plan.ts'
import { environment, lookUp, pointerOf, type Scope } from './scope.ts'
import { countExpression, countWork } from './work.ts'

/** A compiled expression. */
export type CompiledExpression = {
  /** Its value. Throws a RenderError with the path when the data do not have it. */
  readonly value: (scope: Scope) => unknown
  /** Its value; undefined or null when the data do not have it. */
  readonly find: (scope: Scope) => unknown
  /** JSON pointer of the first field that it reads; `''` when it reads none. */
  readonly pointer: (scope: Scope) => string
  /** Whether it is only a path. */
  readonly isPath: boolean
  /** The first field that it reads, from the root of the data. */
  readonly source: Path
}

const plainPath = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/
/** Words of Liquid that are not fields of the data, and the computed ends of a path. */
const liquidWords = /(^|\.)(true|false|nil|null|empty|blank|size|first|last)(\.|$)/

/** Compiles the text between `{{` and `}}`. `as` says what the template does with the value. */
export function compileExpression (text: string, site: CompileContext, as: Read['as']): CompiledExpression {
  const trimmed = text.trim()
  if (plainPath.test(trimmed) && !liquidWords.test(trimmed)) return compilePath(trimmed.split('.'), site, as)
  return compileLiquid(trimmed, site, as)
}

function compilePath (path: Path, site: CompileContext, as: Read['as']): CompiledExpression {
  const source = recordRead(site, path, as)
  const find = (scope: Scope): unknown => {
    countExpression(scope)
    return lookUp(scope, path)
  }
  const pointer = (scope: Scope): string => pointerOf(scope, path)
  const value = (scope: Scope): unknown => {
    const found = find(scope)
    if (found === undefined) throw missing(path.join('.'), pointer(scope), site)
    return found
  }
  return { value, find, pointer, source, isPath: true }
}

function compileLiquid (text: string, site: CompileContext, as: Read['as']): CompiledExpression {
  const { parsed, variables } = parseValue(text, site)
  const sources = variables.map((place) => recordRead(site, fieldPathOf(place), as))
  const pointer: Pointer = (scope, variable = variables[0]) => pointerOf(scope, variable)
  const plan = parsed === undefined ? () => undefined : planValue(parsed, 'required')
  const evaluate = (scope: Scope, lenience: Lenience): unknown => {
    countExpression(scope)
    return withRenderErrors(scope, site, pointer, () =>
      plan === undefined
        ? toValueSync(parsed?.value(liquidContext(scope, site, lenience), lenience === 'lenient'))
        : plan(readingOf(scope, site, lenience, pointer)))
  }
  return {
    value: (scope) => evaluate(scope, 'strict'),
    find: (scope) => evaluate(scope, 'lenient'),
    pointer,
    source: sources[0] ?? [],
    isPath: false
  }
}

/** The compiled expression and its fields; for an invalid one nothing, and a fault is recorded. */
function parseValue (text: string, site: CompileContext): { parsed: Value | undefined, variables: VariablePath[] } {
  try {
    const parsed = withFallbacks(new Value(text, engine))
    // Liquid accepts an open quotation mark in a value, but not in an output.
    if (isOne(parsed)) return { parsed, variables: variablePathsOf(`{{ ${text} }}`) }
    reportFault(site, `"${text}" is not an expression: expected a path such as customer.name, with operators or filters.`)
  } catch (error) {
    reportFault(site, parseMessage(error, text))
  }
  return { parsed: undefined, variables: [] }
}

/** Whether an expression has one value: Liquid reads `a b` as two values and ignores one of them. */
function isOne ({ initial }: Value): boolean {
  return initial.postfix.reduce((depth, token) => {
    if (!TypeGuards.isOperatorToken(token)) return depth + 1
    return token.operator === 'not' ? depth : depth - 1
  }, 0) === 1
}

/** The sentence of a Liquid error, without its position, which would count from the start of the expression. */
export function parseMessage (error: unknown, text: string): string {
  if (!(error instanceof Error)) throw error
  const [reason = error.message] = error.message.split(', line:')
  const filter = /^undefined filter: (.*)$/.exec(reason)?.[1]
  if (filter !== undefined) return `Unknown filter "${filter}"${didYouMean(filter, Object.keys(engine.filters))}.`
  return `"${text}" cannot be read: ${reason}.`
}

/** The data that Liquid reads: names of fields, and indexes of lists. */
export type VariablePath = readonly (string | number)[]

/** The paths that Liquid reads. A part that is known only at run time ends a path. */
export function variablePathsOf (template: string): VariablePath[] {
  return engine.globalVariableSegmentsSync(template).map((segments) => {
    const dynamic = segments.findIndex((segment) => Array.isArray(segment))
    const fixed = (dynamic === -1 ? segments : segments.slice(0, dynamic)).filter((segment): segment is string | number =>
      !Array.isArray(segment)
    )
    return fixed.filter((segment, index) => index === 0 || typeof segment === 'number' || !liquidWords.test(segment))
  })
}

/** The path with field names only: the items of a list are read through the list's own name. */
export function fieldPathOf (place: VariablePath): string[] {
  return place.filter((segment) => typeof segment === 'string')
}

/** Whether a missing value is an error or is empty. */
type Lenience = 'strict' | 'lenient'

/** The variables, the locale and the currency of one evaluation. */
export function liquidContext (scope: Scope, site: CompileContext, lenience: Lenience): Context {
  const globals = { [settingNames.locale]: scope.locale, [settingNames.currency]: scope.currency }
  const fields = site.pageFields ? pageFields : {}
  const options = { sync: true, globals, strictVariables: lenience === 'strict' }
  return countWork(new Context({ ...environment(scope), ...fields }, engine.options, options, { liquid: engine }), scope)
}

/** The same for an expression that needs no Liquid, or filters of Liquid only. */
export function readingOf (scope: Scope, site: CompileContext, lenience: Lenience, pointer: Pointer): Reading {
  let context: Context | undefined
  return {
    scope,
    isStrict: lenience === 'strict',
    fields: site.pageFields ? pageFields : {},
    context: () => context ??= liquidContext(scope, site, lenience),
    missing: (path) => missing(path.join('.'), pointer(scope, path), site)
  }
}

/** The place of the data that an error is about: the variable that it names, or the first one that is read. */
type Pointer = (scope: Scope, variable?: readonly string[]) => string

/** Runs Liquid. An error becomes a RenderError that names the field of the data. */
export function withRenderErrors<T> (scope: Scope, site: CompileContext, pointer: Pointer, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw translated(error, scope, site, pointer)
  }
}

function translated (error: unknown, scope: Scope, site: CompileContext, pointer: Pointer): unknown {
  const cause: unknown = LiquidError.is(error) && 'originalError' in error ? error.originalError : error
  if (cause instanceof RenderError) {
    return new RenderError(cause.problems.map((problem) => problem.path === '' ? { ...problem, path: pointer(scope) } : problem), {
      cause: error
    })
  }
  if (error instanceof UndefinedVariableError) {
    const name = /undefined variable: ([^,]*)/.exec(error.message)?.[1] ?? ''
    return missing(name, plainPath.test(name) ? pointer(scope, name.split('.')) : pointer(scope), site)
  }
  if (!(error instanceof Error)) return error
  return renderError(pointer(scope), 'template_error',
    `The template's expression at ${site.at} failed: ${error.message.split(', line:')[0] ?? error.message}.`, error)
}

function missing (name: string, at: string, site: CompileContext): RenderError {
  return renderError(at, 'missing_value', `The template shows "${name}" (at ${site.at}), but the data have no such value.`)
}
