/** A company as operators know it. */
export type NamedCompany = { id: number, name: string }

/** A company, or several, in words: `"Demo" (7), "Other" (12)`; twenty at most. */
export function companiesInWords (companies: readonly NamedCompany[]): string {
  const named = companies.slice(0, maxInWords).map(({ id, name }) => `"${name}" (${id})`)
  return [...named, ...companies.length > maxInWords ? ['…'] : []].join(', ')
}

const maxInWords = 20
