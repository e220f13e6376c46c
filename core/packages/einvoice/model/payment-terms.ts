import type { Text } from './model.ts'

/** The terms of payment. German rules require a line break after a discount, which is a line that begins with # (DE-R-018, BR-DE-18). */
export function endedTerms (terms: Text): Text {
  const last = terms?.slice(terms.lastIndexOf('\n') + 1).trim()
  return last?.startsWith('#') === true ? `${terms}\n` : terms
}
