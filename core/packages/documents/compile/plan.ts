import { type Context, type Filter, IfTag, Output, type Template, type Token, toValueSync, TypeGuards, type Value } from 'liquidjs'
import type { Path } from './field-usage.ts'
import { engine, escapeOutput } from './liquid.ts'
import { fieldOf, readPath, type Scope, spend } from './scope.ts'
import { countExpression } from './work.ts'

/**
 * Liquid evaluates with generators, and throws and catches an error for each optional field that the data do not have. What templates
 * consist of almost entirely (paths, comparisons with literals, `default`, `if`) is therefore evaluated directly, with the same results.
 * Everything else stays with Liquid: the other filters, and the whole expression or prose where it has anything else.
 */
export type Plan<T = unknown> = (reading: Reading) => T

/** One evaluation. `isStrict`: a missing value is an error. */
export type Reading = {
  readonly scope: Scope
  readonly isStrict: boolean
  /** Variables that come before those of the scope. */
  readonly fields: Readonly<Record<string, unknown>>
  /** For filters. */
  readonly context: () => Context
  /** The error for a path that the data do not have. */
  readonly missing: (path: Path) => Error
}

/** Whether a condition or a fallback follows, for which a value may be missing. */
type Need = 'required' | 'optional'
type Operand = (reading: Reading, need: Need) => unknown

/** The plan of an expression; undefined for one that Liquid must evaluate. `need`: whether its fields may be missing. */
export function planValue ({ initial, filters }: Value, need: Need, shown: readonly Filter[] = filters): Plan | undefined {
  const operand = planOperand(initial.postfix)
  if (operand === undefined) return undefined
  const first = shown[0]?.name === 'default' ? 'optional' : need
  const steps = shown.map((filter, index) => planFilter(filter, shown[index + 1]))
  return (reading) => {
    let value = operand(reading, first)
    for (const step of steps) value = step(value, reading)
    return value
  }
}

/** The plan of prose; undefined for prose that Liquid must render. */
export function planTemplates (templates: readonly Template[]): Plan<string> | undefined {
  const parts = templates.map(planTemplate)
  if (!parts.every((part) => part !== undefined)) return undefined
  return (reading) => {
    let text = ''
    for (const part of parts) text += part(reading)
    return text
  }
}

function planTemplate (template: Template): Plan<string> | undefined {
  if (template instanceof IfTag) return planIf(template)
  if (template instanceof Output) return planOutput(template)
  if (!TypeGuards.isHTMLToken(template.token)) return undefined
  const text = template.token.getContent()
  return () => text
}

/** The last filter of an output is the engine's escape, which has no name, unless the filter before is raw. */
function planOutput ({ value }: Output): Plan<string> | undefined {
  const last = value.filters.at(-1)
  if (last === undefined || Object.hasOwn(engine.filters, last.name)) return undefined
  const plan = planValue(value, 'required', value.filters.slice(0, -1))
  if (plan === undefined) return undefined
  return (reading) => {
    countExpression(reading.scope)
    const text = escapeOutput(plan(reading))
    spend(reading.scope, 'steps', text.length)
    return text
  }
}

function planIf ({ branches, elseTemplates = [] }: IfTag): Plan<string> | undefined {
  const planned = branches.map(({ value, templates }) => ({ holds: planValue(value, 'optional'), text: planTemplates(templates) }))
  const otherwise = planTemplates(elseTemplates)
  if (otherwise === undefined || !planned.every(isWhole)) return undefined
  return (reading) => (planned.find(({ holds }) => isTrue(holds(reading)))?.text ?? otherwise)(reading)
}

function isWhole (branch: { holds: Plan | undefined, text: Plan<string> | undefined }): branch is { holds: Plan, text: Plan<string> } {
  return branch.holds !== undefined && branch.text !== undefined
}

/** The plan of an expression in postfix order. */
function planOperand (postfix: readonly Token[]): Operand | undefined {
  const operands: Planned[] = []
  for (const token of postfix) {
    const planned = TypeGuards.isOperatorToken(token) ? planOperator(token.operator, operands) : planToken(token)
    if (planned === undefined) return undefined
    operands.push(planned)
  }
  return operands.length === 1 ? operands[0]?.evaluate : undefined
}

type Planned = { evaluate: Operand, isLiteral: boolean }

/** The names that Liquid computes at the end of a path. */
const computed: readonly string[] = ['size', 'first', 'last']

function planToken (token: Token): Planned | undefined {
  if (isLiteral(token)) {
    const { content } = token
    return { evaluate: () => content, isLiteral: true }
  }
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return undefined
  if (!token.props.every(TypeGuards.isWordToken)) return undefined
  const path = token.props.map(({ content }) => content)
  return path.some((name) => computed.includes(name)) ? undefined : { evaluate: planPath(path), isLiteral: false }
}

/** A text, a number, true or false; `empty`, `blank` and `nil` have rules of their own. */
function isLiteral (token: Token): token is Token & { content: string | number | boolean } {
  if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token)) return true
  return TypeGuards.isLiteralToken(token) && typeof token.content === 'boolean'
}

function planPath (path: Path): Operand {
  return (reading, need) => {
    const { scope, fields, isStrict, missing } = reading
    const value = readPath(scope, fields, path)
    if (value !== undefined || !isStrict) return value
    if (need === 'optional') return null
    const known = path.findIndex((_name, index) => readPath(scope, fields, path.slice(0, index + 1)) === undefined)
    throw missing(path.slice(0, known + 1))
  }
}

/** Takes its operands off the stack. Liquid evaluates both before it compares them. */
function planOperator (operator: string, operands: Planned[]): Planned | undefined {
  const right = operands.pop()
  if (right === undefined) return undefined
  if (operator === 'not') return { evaluate: (reading, need) => !isTrue(right.evaluate(reading, need)), isLiteral: false }
  const left = operands.pop()
  const compare = comparisons[operator]
  if (left === undefined || compare === undefined) return undefined
  // Lists are equal when their items are, but a list equals no literal.
  if (!logical.includes(operator) && !left.isLiteral && !right.isLiteral) return undefined
  return { evaluate: (reading, need) => compare(left.evaluate(reading, need), right.evaluate(reading, need)), isLiteral: false }
}

const comparisons: Readonly<Record<string, (left: unknown, right: unknown) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  and: (left, right) => isTrue(left) && isTrue(right),
  or: (left, right) => isTrue(left) || isTrue(right)
}
const logical: readonly string[] = ['and', 'or']

/** Everything but a missing value, null and false: an empty text and zero are true. */
function isTrue (value: unknown): boolean {
  return value !== undefined && value !== null && value !== false
}

type Step = (value: unknown, reading: Reading) => unknown

function planFilter (filter: Filter, next: Filter | undefined): Step {
  const [argument, ...more] = filter.args
  const planned = argument === undefined || Array.isArray(argument) || more.length > 0 ? undefined : planToken(argument)
  if (planned !== undefined && filter.name === 'default') return planFallback(planned, next)
  if (planned?.isLiteral === true && filter.name === 'map') return planMap(filter, planned)
  return byLiquid(filter)
}

function byLiquid (filter: Filter): Step {
  return (value, { context }) => toValueSync<unknown>(filter.render(value, context()))
}

/** As in `withFallbacks`: a fallback is read only when it is needed, and may be missing if another one follows. */
function planFallback (fallback: Planned, next: Filter | undefined): Step {
  return (value, reading) =>
    isEmpty(value) ? fallback.evaluate(next?.name === 'default' ? { ...reading, isStrict: false } : reading, 'required') : value
}

/** A field of each item of a list, which may have thousands. Its items are counted. */
function planMap (filter: Filter, { evaluate }: Planned): Step {
  const otherwise = byLiquid(filter)
  return (value, reading) => {
    const name = evaluate(reading, 'required')
    if (!Array.isArray(value) || typeof name !== 'string' || name.includes('.') || computed.includes(name)) return otherwise(value, reading)
    reading.context().memoryLimit.use(value.length)
    return value.map((item: unknown) => item === null || item === undefined ? item : fieldOf(item, name))
  }
}

/** What `default` replaces. */
function isEmpty (value: unknown): boolean {
  return typeof value === 'string' || Array.isArray(value) ? value.length === 0 : !isTrue(value)
}
