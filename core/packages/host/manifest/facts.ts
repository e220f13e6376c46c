import { type Json, patternFault, pointer, type Problem, textOf } from '@dispatch/common'
import type { Facts } from '@dispatch/vendor-io'
import { Type } from 'typebox'

/**
 * Something that a vendor says of an account when it is connected: `redirect` is a parameter of the address to which it sends the browser
 * back, `token` a JSON pointer in the answer with the token. The whole text must fit `pattern`; its first group, where it has one, is the
 * fact.
 */
export type Fact = { redirect: string, token?: never, pattern: string } | { token: string, redirect?: never, pattern: string }

/** Characters of a text in which a fact stands. */
export const longestFact = 500

const from = { additionalProperties: false }
const Pattern = Type.String({ minLength: 1, maxLength: longestFact })
const FactSchema = Type.Union([
  Type.Object({ redirect: Type.String({ minLength: 1, maxLength: 100 }), pattern: Pattern }, from),
  Type.Object({ token: Type.String({ pattern: '^(/[^/]+)+$', description: 'a JSON pointer such as "/instance_url"' }), pattern: Pattern },
    from)
])

/** The facts of a manifest. */
export const FactsSchema = Type.Unsafe<Record<string, Fact>>(Type.Record(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9]*$' }), FactSchema, {
  minProperties: 1,
  maxProperties: 20
}))

/** The parameters of the redirect that are the host's (RFC 6749, 4.1.2). */
const ofTheHost = ['code', 'state', 'error', 'error_description']

/** A text that no vendor sends: a pattern that matches it permits anything. */
const anything = 'https://b6b3ce6c.invalid/../?a=b#c d@e'

/** The problems of declared facts beyond their shape. `settings` are the names of the settings, beside which facts are named. */
export function factFaults (facts: Readonly<Record<string, Fact>>, settings: readonly string[], base: string): Problem[] {
  return Object.entries(facts).flatMap(([name, fact]) => {
    const problem = (field: string, code: string, message: string): Problem => ({ path: `${pointer(base, name)}${field}`, code, message })
    const fault = patternFault(fact.pattern)
    return [
      ...settings.includes(name) ? [problem('', 'named_twice', `There is a setting "${name}" already.`)] : [],
      ...ofTheHost.includes(fact.redirect ?? '')
        ? [problem('/redirect', 'reserved', `The host reads "${fact.redirect ?? ''}" itself.`)]
        : [],
      ...fault === undefined ? [] : [problem('/pattern', 'schema', fault)],
      ...fault === undefined && expressionOf(fact).test(anything)
        ? [problem('/pattern', 'bounds_nothing', 'Say what the vendor\'s texts look like: anything fits this.')]
        : []
    ]
  })
}

function expressionOf ({ pattern }: Fact): RegExp {
  return new RegExp(`^(?:${pattern})$`, 'u')
}

/** What a text says of a fact; undefined where it does not fit. */
function factIn (fact: Fact, text: string | undefined): string | undefined {
  if (text === undefined || text.length > longestFact) return undefined
  const found = expressionOf(fact).exec(text)
  const value = found?.[1] ?? found?.[0]
  return value === '' ? undefined : value
}

/** The parameters of a redirect in which facts of any of these stand. */
export function redirectNames (declared: readonly Readonly<Record<string, Fact>>[]): string[] {
  return declared.flatMap((facts) => Object.values(facts).flatMap(({ redirect }) => redirect ?? []))
}

/** What an answer says of declared facts, and the names of those that it does not say, or not in a form that fits. */
type Reported = { facts: Facts, lacking: string[] }

/** The facts that a redirect brought, by the parameters of its address. */
export function factsOfRedirect (declared: Readonly<Record<string, Fact>>, query: Readonly<Record<string, string>>): Reported {
  return reported(declared, ({ redirect }) => redirect !== undefined,
    ({ redirect = '' }) => Object.hasOwn(query, redirect) ? query[redirect] : undefined)
}

/** The facts in the answer with a token. */
export function factsOfToken (declared: Readonly<Record<string, Fact>>, answer: Json): Reported {
  return reported(declared, ({ token }) => token !== undefined, ({ token = '' }) => textOf(answer, token))
}

function reported (
  declared: Readonly<Record<string, Fact>>,
  isMeant: (fact: Fact) => boolean,
  read: (fact: Fact) => string | undefined
): Reported {
  const all = Object.entries(declared).filter(([, fact]) => isMeant(fact)).map(([name, fact]) => [name, factIn(fact, read(fact))] as const)
  return {
    facts: Object.fromEntries(all.flatMap(([name, value]) => value === undefined ? [] : [[name, value]])),
    lacking: all.flatMap(([name, value]) => value === undefined ? [name] : [])
  }
}
