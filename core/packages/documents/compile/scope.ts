import { ownField, pointer } from '@dispatch/common'
import type { ImageData } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'
import type { Path } from './field-usage.ts'

/** The values that expressions can read while one document is made. */
export type Scope = {
  readonly data: Readonly<Record<string, unknown>>
  /** The variables of the surrounding loops, with the JSON pointers of their values. */
  readonly variables: Readonly<Record<string, Variable>>
  readonly locale: string
  readonly currency: string
  /** The language of the template's texts in this document; '' without texts. */
  readonly language: string
  readonly budget: Budget
  /** The pictures of the data by their data URIs, each read once. */
  readonly pictures: Map<string, ImageData>
}
type Variable = { value: unknown, at: string }

/** The remaining budget of the document. */
export type Budget = { steps: number, characters: number, blocks: number, pixels: number }

/** The first scope of a document. It has no language until the locale is known. */
export function newScope (data: Record<string, unknown>): Scope {
  return {
    data,
    variables: {},
    locale: 'en',
    currency: 'EUR',
    language: '',
    budget: {
      steps: renderLimits.steps,
      characters: renderLimits.characters,
      blocks: renderLimits.blocks,
      pixels: renderLimits.pixels
    },
    pictures: new Map()
  }
}

/** The scope of one iteration of a loop. */
export function withVariable (scope: Scope, name: string, value: unknown, at: string): Scope {
  return { ...scope, variables: { ...scope.variables, [name]: { value, at } } }
}

/** The value of a path, or undefined where there is none. Only own fields are followed. */
export function lookUp (scope: Scope, path: Path): unknown {
  let value = rootOf(scope, path[0] ?? '')
  for (let index = 1; index < path.length; index++) value = ownField(value, path[index] ?? '')
  return value
}

/** The value of a path as Liquid reads it: what is below null is null, and texts and lists have fields too. */
export function readPath (scope: Scope, fields: Readonly<Record<string, unknown>>, path: Path): unknown {
  const [first = ''] = path
  let value = Object.hasOwn(fields, first) ? fields[first] : rootOf(scope, first)
  for (let index = 1; index < path.length && value !== undefined && value !== null; index++) value = fieldOf(value, path[index] ?? '')
  return value
}

/** A field of a value of any kind. */
export function fieldOf (value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

/** A variable of a loop, or a field of the data. */
function rootOf ({ variables, data }: Scope, name: string): unknown {
  return Object.hasOwn(variables, name) ? variables[name]?.value : ownField(data, name)
}

/** JSON pointer of a path into the data; '' for a path outside of the data. */
export function pointerOf (scope: Scope, path: readonly (string | number)[] = []): string {
  const [first, ...rest] = path
  if (first === undefined) return ''
  const variable = Object.hasOwn(scope.variables, first) ? scope.variables[first] : undefined
  return rest.reduce<string>((at, name) => pointer(at, name), variable === undefined ? pointer('', first) : variable.at)
}

/** All variables as one object, for Liquid. */
export function environment (scope: Scope): Record<string, unknown> {
  const variables = Object.entries(scope.variables).map(([name, { value }]) => [name, value] as const)
  return { ...scope.data, ...Object.fromEntries(variables) }
}

/** Takes from the budget. Throws a RenderError when it is used up. */
export function spend (scope: Pick<Scope, 'budget'>, what: keyof Budget, amount: number): void {
  scope.budget[what] -= amount
  if (scope.budget[what] < 0) {
    throw renderError('', 'too_large', `The document ${what === 'steps' ? 'takes' : 'has'} more than ${renderLimits[what]} ${what}.`)
  }
}
