/** The query of a page. */
export type Query = Readonly<Record<string, unknown>>

/** The fields of a list's filter. */
export function readFilter<Name extends string> (query: Query, names: readonly Name[]): Readonly<Record<Name, string>> {
  return Object.fromEntries(names.map((name) => [name, textOf(query[name])])) as Record<Name, string>
}

/** Whether a filter leaves anything out, or goes on behind its first page. */
export function isFiltered (filter: Readonly<Record<string, string>>): boolean {
  return Object.values(filter).some((value) => value !== '')
}

/** A value of a query, trimmed; '' where it has none, or several of its name. */
export function textOf (value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}
