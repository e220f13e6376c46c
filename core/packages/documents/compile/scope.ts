import { ownField, pointer } from '@dispatch/common'
import type { ImageData } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'
import type { Path } from '../source/field-usage.ts'

/** What expressions see while one document is made. */
export type Scope = {
  readonly data: Readonly<Record<string, unknown>>
  /** The variables of the loops around, with the JSON pointer of what they hold. */
  readonly variables: Readonly<Record<string, Variable>>
  readonly locale: string
  readonly currency: string
  /** The language of the template's texts that the document is in; '' without texts. */
  readonly language: string
  readonly budget: Budget
  /** The pictures of the data by their data URIs, each read once. */
  readonly pictures: Map<string, ImageData>
}
type Variable = { value: unknown, at: string }

/** What the document may still use up. */
export type Budget = { characters: number, blocks: number, pixels: number }

/** The scope in which a document begins: without a language of its own until its locale is known. */
export function newScope (data: Record<string, unknown>): Scope {
  return {
    data,
    variables: {},
    locale: 'en',
    currency: 'EUR',
    language: '',
    budget: { characters: renderLimits.characters, blocks: renderLimits.blocks, pixels: renderLimits.pixels },
    pictures: new Map()
  }
}

/** The scope of one turn of a loop. */
export function withVariable (scope: Scope, name: string, value: unknown, at: string): Scope {
  return { ...scope, variables: { ...scope.variables, [name]: { value, at } } }
}

/** The value of a path, or undefined where there is none. Only own fields are followed. */
export function lookUp (scope: Scope, path: Path): unknown {
  const [first = '', ...rest] = path
  const variable = Object.hasOwn(scope.variables, first) ? scope.variables[first] : undefined
  let value = variable === undefined ? ownField(scope.data, first) : variable.value
  for (const name of rest) value = ownField(value, name)
  return value
}

/** JSON pointer of a path into the data; '' of none. */
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

/** Takes from the budget; a RenderError when nothing is left. */
export function spend (scope: Pick<Scope, 'budget'>, what: keyof Budget, amount: number): void {
  scope.budget[what] -= amount
  if (scope.budget[what] < 0) throw renderError('', 'too_large', `The document has more than ${renderLimits[what]} ${what}.`)
}
