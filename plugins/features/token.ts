import type { Dependencies } from '../container/dependencies.ts'

declare const type: unique symbol

/** Stands for something that features and the service give each other: its name, and for the compiler its type. */
export type Token<Dependency> = {
  readonly name: string
  /** Who provides it. */
  readonly by: 'service' | 'feature'
  readonly [type]?: Dependency
}

/** What a feature provides, for whoever needs it: `export const notes = token<Notes>('notes')`. */
export function token<Dependency> (name: string): Token<Dependency> {
  return { name, by: 'feature' }
}

/** What the service itself provides, by its names: `needs: { ...service('database', 'now') }`. */
export function service<Name extends keyof Dependencies> (...names: Name[]): { readonly [One in Name]: Token<Dependencies[One]> } {
  const tokens: [string, Token<unknown>][] = names.map((name) => [name, { name, by: 'service' }])
  return Object.fromEntries(tokens) as { readonly [One in Name]: Token<Dependencies[One]> }
}

/** What a feature needs, each under the name by which it uses it. */
export type Needs = Readonly<Record<string, Token<unknown>>>

/** What a feature is given: what it has declared that it needs, and nothing else. */
export type Given<Needed extends Needs> = {
  readonly [Name in keyof Needed]: Needed[Name] extends Token<infer Dependency> ? Dependency : never
}

/** Finds what a token stands for. */
export type Resolve = <Dependency>(token: Token<Dependency>) => Dependency

/**
 * Each need is looked up when it is first used: what provides it may itself need what comes later. Throws where something needs itself, as
 * a copy of all needs does (`{ ...given }`) in what provides one of them.
 */
export function give<Needed extends Needs> (needs: Needed, resolve: Resolve): Given<Needed> {
  const given = {}
  const sought = new Set<string>()
  for (const [name, needed] of Object.entries(needs)) {
    const get = (): unknown => {
      if (sought.has(name)) {
        throw new Error(`"${name}" needs itself before it is made: its provision may use all other needs, each by name.`)
      }
      sought.add(name)
      try {
        return resolve(needed)
      } finally {
        sought.delete(name)
      }
    }
    Object.defineProperty(given, name, { enumerable: true, get })
  }
  return given as Given<Needed>
}
